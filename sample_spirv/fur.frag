// Darker at the roots.
#version 450

layout(location = 0) in vec3 normal;
layout(location = 1) in float along;
layout(location = 0) out vec4 result;

void main() {
    result = vec4(vec3(0.6, 0.4, 0.2) * (0.3 + 0.7 * along) * (0.5 + 0.5 * normalize(normal).y), 1.0);
}
