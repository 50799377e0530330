// Texel buffers: 10-bit samples through a formatted buffer view, and back through a storage one.
#version 450
layout(local_size_x = 64) in;

layout(binding = 0) uniform usamplerBuffer packed;
layout(binding = 1, rgba16f) uniform writeonly imageBuffer unpacked;

void main() {
    int i = int(gl_GlobalInvocationID.x);
    uvec4 texel = texelFetch(packed, i);
    for (int c = 0; c < 4; ++c) {
        uvec4 tens = (uvec4(texel[c]) >> uvec4(0, 10, 20, 30)) & uvec4(1023, 1023, 1023, 3);
        imageStore(unpacked, 4 * i + c, vec4(tens) / vec4(1023.0, 1023.0, 1023.0, 3.0));
    }
}
