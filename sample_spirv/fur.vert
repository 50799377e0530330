// A hair's root and direction: all that the geometry stage needs.
#version 450

layout(location = 0) in vec3 root;
layout(location = 1) in vec3 direction;

layout(location = 0) out vec3 grown;

void main() {
    gl_Position = vec4(root, 1.0);
    grown = direction;
}
