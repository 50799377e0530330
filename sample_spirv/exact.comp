// 64 bits: double precision and 64-bit integers, a feature that not every device has (Float64, Int64).
#version 450
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 32) in;

layout(binding = 0) readonly buffer Bodies { dvec4 bodies[]; };
layout(binding = 1) writeonly buffer Forces { dvec4 forces[]; };
layout(binding = 2) buffer Checksums { uint64_t checksums[]; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    dvec3 force = dvec3(0.0);
    uint64_t checksum = 0xcbf29ce484222325ul;
    for (uint j = 0; j < bodies.length(); ++j) {
        dvec3 way = bodies[j].xyz - bodies[i].xyz;
        double distance2 = dot(way, way) + 1e-9lf;
        force += way * (bodies[j].w / (distance2 * sqrt(distance2)));
        checksum = (checksum ^ uint64_t(j)) * 0x100000001b3ul;
    }
    forces[i] = dvec4(force, 0.0);
    checksums[i] = checksum;
}
