// Atomics: bins in shared memory, then one atomic per bin in global memory.
#version 450
layout(local_size_x = 256) in;

layout(binding = 0) uniform sampler2D picture;
layout(binding = 1) buffer Histogram { uint bins[256]; };

shared uint counts[256];

void main() {
    counts[gl_LocalInvocationIndex] = 0;
    barrier();
    ivec2 size = textureSize(picture, 0);
    for (int x = int(gl_LocalInvocationIndex); x < size.x; x += 256) {
        vec3 colour = texelFetch(picture, ivec2(x, gl_WorkGroupID.x), 0).rgb;
        float luma = dot(colour, vec3(0.2126, 0.7152, 0.0722));
        atomicAdd(counts[uint(clamp(luma, 0.0, 1.0) * 255.0)], 1u);
    }
    barrier();
    if (counts[gl_LocalInvocationIndex] != 0)
        atomicAdd(bins[gl_LocalInvocationIndex], counts[gl_LocalInvocationIndex]);
}
