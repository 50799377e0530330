// Specialization constants: the workgroup's size and the unrolled length of a filter are chosen when it is compiled.
#version 450
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 2) const int TAPS = 8;
layout(constant_id = 3) const bool CLAMPED = true;

layout(binding = 0) readonly buffer Input { float signal[]; };
layout(binding = 1) readonly buffer Filter { float taps[TAPS]; };
layout(binding = 2) writeonly buffer Output { float filtered[]; };

void main() {
    uint at = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    float sum = 0.0;
    for (int tap = 0; tap < TAPS; ++tap)
        sum += taps[tap] * signal[at + tap];
    filtered[at] = CLAMPED ? clamp(sum, -1.0, 1.0) : sum;
}
