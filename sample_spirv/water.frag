// Samplers and varyings: what water.vert moved is shaded with a normal map and a cube map.
#version 450
layout(location = 0) in vec3 world;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 uv;

layout(set = 0, binding = 0) uniform Scene {
    mat4 view_projection;
    vec4 eye;
    vec4 waves[4];
    float time;
};
layout(set = 1, binding = 0) uniform sampler2D ripples;
layout(set = 1, binding = 1) uniform samplerCube sky;

layout(location = 0) out vec4 colour;

void main() {
    vec3 fine = texture(ripples, uv + 0.03 * time).xzy + texture(ripples, uv.yx - 0.02 * time).xzy - 1.0;
    vec3 n = normalize(normal + 0.2 * vec3(fine.x, 0.0, fine.z));
    vec3 v = normalize(eye.xyz - world);
    float fresnel = 0.02 + 0.98 * pow(1.0 - max(dot(n, v), 0.0), 5.0);
    vec3 reflected = texture(sky, reflect(-v, n)).rgb;
    colour = vec4(mix(vec3(0.0, 0.06, 0.09), reflected, fresnel), 1.0);
}
