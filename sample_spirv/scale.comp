// Push constants: the smallest useful kernel, y = a·x + b, whose parameters need no buffer.
#version 450
layout(local_size_x = 64) in;

layout(push_constant) uniform Parameters {
    float a;
    float b;
    uint count;
};
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count)
        y[i] = a * x[i] + b;
}
