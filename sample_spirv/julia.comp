// A loop whose end depends on data: iterations of a Julia set, written to a storage image.
#version 450
layout(local_size_x = 8, local_size_y = 8) in;

layout(binding = 0, rgba8) uniform writeonly image2D picture;
layout(push_constant) uniform View {
    vec2 centre;
    vec2 c;
    float scale;
    int limit;
};

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    vec2 z = centre + scale * (vec2(at) - 0.5 * vec2(imageSize(picture)));
    int steps = 0;
    while (steps < limit && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        ++steps;
    }
    float t = float(steps) / float(limit);
    imageStore(picture, at, vec4(t, sqrt(t), 1.0 - t, 1.0));
}
