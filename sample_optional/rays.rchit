// Closest hit: the material's colour out of the shader record, a normal by the barycentric coordinates.
#version 460
#extension GL_EXT_ray_tracing : require

struct Hit {
    vec3 colour;
    float distance;
    vec3 normal;
    float mirror;
};
layout(location = 0) rayPayloadInEXT Hit hit;
hitAttributeEXT vec2 barycentric;

layout(shaderRecordEXT, std430) buffer Material {
    vec4 colour_and_mirror;
};
layout(set = 1, binding = 0, std430) readonly buffer Normals {
    vec4 normals[];
};

void main() {
    vec3 weights = vec3(1.0 - barycentric.x - barycentric.y, barycentric);
    uint first = gl_PrimitiveID * 3;
    vec3 normal = mat3(normals[first].xyz, normals[first + 1].xyz, normals[first + 2].xyz) * weights;
    hit = Hit(colour_and_mirror.rgb, gl_HitTEXT, normalize(normal), colour_and_mirror.a);
}
