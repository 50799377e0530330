// One light from the side; what the other three stages made is used up.
#version 450

layout(location = 0) in vec3 normal;
layout(location = 1) in vec3 colour;
layout(location = 0) out vec4 result;

void main() {
    result = vec4(colour * max(dot(normalize(normal), vec3(0.48, 0.6, 0.64)), 0.1), 1.0);
}
