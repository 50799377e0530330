// Several render targets, one of them of integers.
#version 450
layout(location = 0) in vec3 normal;
layout(location = 1) flat in uint object;

layout(binding = 0) readonly buffer Albedo { vec4 albedo[]; };

layout(location = 0) out vec4 colour;
layout(location = 1) out vec2 octahedral;
layout(location = 2) out uvec2 id;

void main() {
    vec3 n = normal / (abs(normal.x) + abs(normal.y) + abs(normal.z));
    octahedral = n.z >= 0.0 ? n.xy : (1.0 - abs(n.yx)) * mix(vec2(-1.0), vec2(1.0), greaterThanEqual(n.xy, vec2(0.0)));
    colour = albedo[object];
    id = uvec2(object, gl_FrontFacing ? 1u : 0u);
}
