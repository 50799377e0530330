// Descriptor indexing: an unsized array of textures, indexed by a number that differs within a subgroup.
#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 8, local_size_y = 8) in;

struct Material {
    uint albedo;
    uint roughness;
    vec2 tiling;
};

layout(set = 0, binding = 0) readonly buffer Materials { Material materials[]; };
layout(set = 0, binding = 1, r32ui) uniform readonly uimage2D visibility;
layout(set = 0, binding = 2, rgba16f) uniform writeonly image2D colour;
layout(set = 1, binding = 0) uniform sampler linear;
layout(set = 1, binding = 1) uniform texture2D textures[];

void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    Material material = materials[imageLoad(visibility, at).r];
    vec2 uv = (vec2(at) + 0.5) * material.tiling;
    vec3 albedo = textureLod(sampler2D(textures[nonuniformEXT(material.albedo)], linear), uv, 0.0).rgb;
    float roughness = textureLod(sampler2D(textures[nonuniformEXT(material.roughness)], linear), uv, 0.0).r;
    imageStore(colour, at, vec4(albedo, roughness));
}
