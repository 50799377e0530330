// Discard and a written depth: both keep the hardware from testing depth early.
#version 450
layout(location = 0) in vec2 uv;

layout(binding = 0) uniform sampler2DArray leaves;
layout(push_constant) uniform Layer { float layer; float thickness; };

layout(location = 0) out vec4 colour;

void main() {
    vec4 texel = texture(leaves, vec3(uv, layer));
    if (texel.a < 0.5)
        discard;
    gl_FragDepth = gl_FragCoord.z - thickness * (texel.a - 0.5);
    colour = vec4(texel.rgb, 1.0);
}
