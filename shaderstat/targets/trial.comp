// What every compiler is tried with before it is listed: old features alone (Vulkan 1.0, SPIR-V 1.0), in such a mix that
// GPUs whose compilers differ are likely to answer differently: shared memory, a loop that can't be unrolled, an array
// that is indexed at run time, transcendental functions, integer division, texturing, atomics, bit fields. Each of them
// once, in one component where that will do: a hundred compilers are asked.
//
//   glslangValidator -V --target-env vulkan1.0 -g0 trial.comp -o trial.spv
#version 450

layout(local_size_x = 64) in;

layout(set = 0, binding = 0) uniform Parameters {
    vec4 weight;
    uint count;
    uint stride;
    float scale;
};
layout(std430, set = 0, binding = 1) readonly buffer Source { vec4 source[]; };
layout(std430, set = 0, binding = 2) buffer Result { vec4 result[]; };
layout(std430, set = 0, binding = 3) buffer Counters { uint counters[]; };
layout(set = 0, binding = 4) uniform sampler2D picture;

shared vec4 tile[64];

void main() {
    uint at = gl_GlobalInvocationID.x;
    uint lane = gl_LocalInvocationIndex;
    tile[lane] = weight * source[at];
    barrier();

    float window[4];
    for (int i = 0; i < 4; ++i) {
        window[i] = tile[(lane * 7u + uint(i)) & 63u].x * scale;
    }
    vec4 sum = vec4(0.0);
    for (uint i = 0u; i < count; ++i) {
        vec4 other = tile[(lane + i) & 63u];
        uint slot = (i * stride + at) % 4u;
        sum += other * window[slot] + exp2(-abs(other.y)) * sin(other.z * scale);
        window[(slot + i) % 4u] = inversesqrt(dot(other, other) + 1.0);
    }
    sum += textureLod(picture, sum.xy, 0.0) * float(bitfieldExtract(at, 3, 5) / max(stride, 1u));
    uint packed = packUnorm4x8(clamp(sum, 0.0, 1.0));
    atomicAdd(counters[packed % count], bitCount(packed) + uint(findMSB(at)));
    result[at] = sum + unpackHalf2x16(packed).xyxy;
}
