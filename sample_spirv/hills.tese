// Tessellation evaluation: the height of each new point from a texture, and its normal by differences.
#version 450

layout(quads, fractional_odd_spacing, ccw) in;

layout(set = 0, binding = 0) uniform Scene {
    mat4 view_projection;
    vec3 eye;
    float detail;
};
layout(set = 0, binding = 1) uniform sampler2D heights;

layout(location = 0) in vec2 uv[];
layout(location = 1) patch in vec4 tint;
layout(location = 0) out vec3 normal;
layout(location = 1) out vec3 colour;

vec4 blend(vec4 a, vec4 b, vec4 c, vec4 d) {
    return mix(mix(a, b, gl_TessCoord.x), mix(d, c, gl_TessCoord.x), gl_TessCoord.y);
}

void main() {
    vec2 at = blend(uv[0].xyxy, uv[1].xyxy, uv[2].xyxy, uv[3].xyxy).xy;
    vec4 place = blend(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_in[2].gl_Position, gl_in[3].gl_Position);
    float height = textureLod(heights, at, 0.0).r;
    float east = textureLodOffset(heights, at, 0.0, ivec2(1, 0)).r;
    float north = textureLodOffset(heights, at, 0.0, ivec2(0, 1)).r;
    normal = normalize(vec3(height - east, 0.1, height - north));
    colour = mix(vec3(0.2, 0.4, 0.1), vec3(0.9), smoothstep(0.5, 0.8, height)) * tint.rgb;
    gl_Position = view_projection * (place + vec4(0.0, height, 0.0, 0.0));
}
