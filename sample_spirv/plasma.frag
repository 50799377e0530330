// A fragment shader without its vertex shader: shaderstat writes one that feeds its inputs.
#version 450

layout(push_constant) uniform Push {
    float time;
};

layout(location = 0) in vec2 uv;
layout(location = 1) flat in uint palette;
layout(location = 2) in vec4 tint[2];

layout(location = 0) out vec4 result;

void main() {
    vec2 p = uv * 8.0;
    float wave = sin(p.x + time) + sin(p.y - time) + sin(length(p) * 2.0 + time);
    vec3 phase = vec3(0.0, 2.1, 4.2) + float(palette);
    result = vec4(0.5 + 0.5 * cos(phase + wave), 1.0) * mix(tint[0], tint[1], 0.5 + 0.25 * wave);
}
