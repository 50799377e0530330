// Geometry: each triangle stays, and each of its corners grows a hair that bends in the wind.
#version 450

layout(triangles) in;
layout(triangle_strip, max_vertices = 12) out;

layout(push_constant) uniform Push {
    mat4 view_projection;
    vec4 wind;
};

layout(location = 0) in vec3 grown[];
layout(location = 0) out vec3 normal;
layout(location = 1) out float along;

void emit(vec3 place, vec3 towards, float height) {
    gl_Position = view_projection * vec4(place, 1.0);
    normal = towards;
    along = height;
    EmitVertex();
}

void main() {
    for (int i = 0; i < 3; i++) {
        emit(gl_in[i].gl_Position.xyz, grown[i], 0.0);
    }
    EndPrimitive();
    for (int i = 0; i < 3; i++) {
        vec3 root = gl_in[i].gl_Position.xyz;
        vec3 side = normalize(cross(grown[i], wind.xyz)) * 0.01;
        emit(root - side, grown[i], 0.0);
        emit(root + side, grown[i], 0.0);
        emit(root + grown[i] + wind.xyz * wind.w, grown[i], 1.0);
        EndPrimitive();
    }
}
