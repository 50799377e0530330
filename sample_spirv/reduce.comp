// Subgroup operations: a sum that goes through shared memory once per subgroup, not once per invocation.
#version 450
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) writeonly buffer Output { float sums[]; };

shared float partial[256];

void main() {
    float sum = subgroupAdd(values[gl_GlobalInvocationID.x]);
    if (subgroupElect())
        partial[gl_SubgroupID] = sum;
    barrier();
    if (gl_SubgroupID == 0) {
        float mine = gl_SubgroupInvocationID < gl_NumSubgroups ? partial[gl_SubgroupInvocationID] : 0.0;
        sum = subgroupAdd(mine);
        if (subgroupElect())
            sums[gl_WorkGroupID.x] = sum;
    }
}
