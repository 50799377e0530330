// Instances: a matrix as vertex attribute takes four locations; the object's number goes down flat.
#version 450
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in mat4 model;
layout(location = 6) in uint object;

layout(push_constant) uniform Camera { mat4 view_projection; };

layout(location = 0) out vec3 normal_out;
layout(location = 1) flat out uint object_out;

void main() {
    normal_out = mat3(model) * normal;
    object_out = object + gl_InstanceIndex;
    gl_Position = view_projection * model * vec4(position, 1.0);
}
