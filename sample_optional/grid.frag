// Reads an input of the vertices and one of the primitive.
#version 460
#extension GL_EXT_mesh_shader : require

layout(location = 0) in vec2 uv;
layout(location = 1) perprimitiveEXT in vec4 tint;
layout(location = 0) out vec4 result;

void main() {
    vec2 line = abs(fract(uv * 4.0) - 0.5);
    result = tint * smoothstep(0.0, 0.1, min(line.x, line.y));
}
