// Branches: a switch over kinds of particles, each with another law of motion.
#version 450
layout(local_size_x = 128) in;

struct Particle {
    vec3 position;
    uint kind;
    vec3 velocity;
    float age;
};

layout(binding = 0) buffer Particles { Particle particles[]; };
layout(binding = 1) uniform World {
    vec3 wind;
    float step;
    float ground;
};

void main() {
    if (gl_GlobalInvocationID.x >= particles.length())
        return;
    Particle p = particles[gl_GlobalInvocationID.x];
    switch (p.kind) {
    case 0u:  // smoke: drifts and slows down
        p.velocity = mix(p.velocity, wind + vec3(0.0, 1.0, 0.0), 0.1);
        break;
    case 1u:  // spark: falls, and bounces once it has reached the ground
        p.velocity.y -= 9.81 * step;
        if (p.position.y < ground) {
            p.position.y = ground;
            p.velocity = reflect(p.velocity, vec3(0.0, 1.0, 0.0)) * 0.6;
        }
        break;
    case 2u:  // snow: sways
        p.velocity.xz = wind.xz + vec2(sin(p.age), cos(p.age));
        p.velocity.y = -1.0;
        break;
    default:  // dead: stays where it is
        return;
    }
    p.position += p.velocity * step;
    p.age += step;
    particles[gl_GlobalInvocationID.x] = p;
}
