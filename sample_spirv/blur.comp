// Shared memory: a Gaussian blur whose tile is loaded once per workgroup and read 25 times per invocation.
#version 450
layout(local_size_x = 16, local_size_y = 16) in;

layout(binding = 0) uniform sampler2D source;
layout(binding = 1, rgba8) uniform writeonly image2D target;

const int RADIUS = 2;
const int SIDE = 16 + 2 * RADIUS;
const float WEIGHTS[RADIUS + 1] = float[](0.375, 0.25, 0.0625);

shared vec3 tile[SIDE][SIDE];

void main() {
    ivec2 corner = ivec2(gl_WorkGroupID.xy) * 16 - RADIUS;
    for (int i = int(gl_LocalInvocationIndex); i < SIDE * SIDE; i += 256) {
        ivec2 at = ivec2(i % SIDE, i / SIDE);
        tile[at.y][at.x] = texelFetch(source, corner + at, 0).rgb;
    }
    barrier();

    ivec2 centre = ivec2(gl_LocalInvocationID.xy) + RADIUS;
    vec3 sum = vec3(0.0);
    for (int y = -RADIUS; y <= RADIUS; ++y)
        for (int x = -RADIUS; x <= RADIUS; ++x)
            sum += WEIGHTS[abs(x)] * WEIGHTS[abs(y)] * tile[centre.y + y][centre.x + x];
    imageStore(target, ivec2(gl_GlobalInvocationID.xy), vec4(sum, 1.0));
}
