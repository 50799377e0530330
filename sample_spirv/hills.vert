// A patch's corners, handed on as they are: the height comes later.
#version 450

layout(location = 0) in vec2 corner;
layout(location = 1) in vec2 uv;

layout(location = 0) out vec2 uv_out;

void main() {
    gl_Position = vec4(corner.x, 0.0, corner.y, 1.0);
    uv_out = uv;
}
