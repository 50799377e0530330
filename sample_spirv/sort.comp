// Scratch memory: a private array that is indexed dynamically does not fit into registers.
#version 450
layout(local_size_x = 64) in;

const int LENGTH = 256;

layout(binding = 0) buffer Keys { uint keys[]; };

void main() {
    uint list[LENGTH];
    uint first = gl_GlobalInvocationID.x * LENGTH;
    for (int i = 0; i < LENGTH; ++i)
        list[i] = keys[first + i];
    for (int i = 1; i < LENGTH; ++i) {
        uint key = list[i];
        int j = i;
        for (; j > 0 && list[j - 1] > key; --j)
            list[j] = list[j - 1];
        list[j] = key;
    }
    for (int i = 0; i < LENGTH; ++i)
        keys[first + i] = list[i];
}
