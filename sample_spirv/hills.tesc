// Tessellation control: levels by the distance of a patch's edges from the eye; what is far behind is not drawn.
#version 450

layout(vertices = 4) out;

layout(set = 0, binding = 0) uniform Scene {
    mat4 view_projection;
    vec3 eye;
    float detail;
};

layout(location = 0) in vec2 uv[];
layout(location = 0) out vec2 uv_out[];
layout(location = 1) patch out vec4 tint;

float level(vec4 a, vec4 b) {
    return clamp(detail / distance(eye, (a.xyz + b.xyz) * 0.5), 1.0, 64.0);
}

void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    uv_out[gl_InvocationID] = uv[gl_InvocationID];
    if (gl_InvocationID == 0) {
        float edges[4];
        for (int i = 0; i < 4; i++) {
            edges[i] = level(gl_in[i].gl_Position, gl_in[(i + 3) & 3].gl_Position);
            gl_TessLevelOuter[i] = edges[i];
        }
        gl_TessLevelInner[0] = max(edges[1], edges[3]);
        gl_TessLevelInner[1] = max(edges[0], edges[2]);
        tint = vec4(edges[0], edges[1], edges[2], edges[3]) / 64.0;
    }
}
