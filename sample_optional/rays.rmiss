// Miss: the sky.
#version 460
#extension GL_EXT_ray_tracing : require

struct Hit {
    vec3 colour;
    float distance;
    vec3 normal;
    float mirror;
};
layout(location = 0) rayPayloadInEXT Hit hit;

void main() {
    hit = Hit(mix(vec3(0.8, 0.9, 1.0), vec3(0.2, 0.4, 0.9), gl_WorldRayDirectionEXT.y), 0.0, vec3(0.0), 0.0);
}
