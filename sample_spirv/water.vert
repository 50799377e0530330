// Vertex inputs, a uniform block and varyings: waves that move the vertices of a plane.
#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec2 uv;

layout(set = 0, binding = 0) uniform Scene {
    mat4 view_projection;
    vec4 eye;
    vec4 waves[4];  // direction, wavelength, amplitude
    float time;
};

layout(location = 0) out vec3 world;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec2 uv_out;

void main() {
    vec3 p = position;
    vec2 slope = vec2(0.0);
    for (int i = 0; i < 4; ++i) {
        float k = 6.2831853 / waves[i].z;
        float phase = k * dot(waves[i].xy, position.xz) + sqrt(9.81 * k) * time;
        p.y += waves[i].w * sin(phase);
        slope += waves[i].w * k * cos(phase) * waves[i].xy;
    }
    world = p;
    normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    uv_out = uv;
    gl_Position = view_projection * vec4(p, 1.0);
}
