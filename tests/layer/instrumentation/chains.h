/* Chains: what those below must not see is taken out for as long as a call lasts. */
#ifndef CHAINS_H
#define CHAINS_H

#include "settings.h"

struct changes {
    struct {
        void *at;
        size_t size;
        uint64_t was;
    } list[64];
    size_t count;
};

static void change(struct changes *changes, void *at, const void *value, size_t size)
{
    if (changes->count == COUNT(changes->list))
        abort();
    changes->list[changes->count].at = at;
    changes->list[changes->count].size = size;
    memcpy(&changes->list[changes->count++].was, at, size);
    memcpy(at, value, size);
}

static void change_back(struct changes *changes)
{
    while (changes->count) {
        size_t last = --changes->count;
        memcpy(changes->list[last].at, &changes->list[last].was, changes->list[last].size);
    }
}

static void *chained(const void *head, VkStructureType type)
{
    const VkBaseInStructure *each = ((const VkBaseInStructure *)head)->pNext;
    while (each && each->sType != type)
        each = each->pNext;
    return (void *)each;
}

static void *take_out(struct changes *changes, const void *head, VkStructureType type)
{
    VkBaseOutStructure *before = (VkBaseOutStructure *)head, *found = chained(head, type);
    while (found && before->pNext != found)
        before = before->pNext;
    if (found)
        change(changes, &before->pNext, &found->pNext, sizeof found->pNext);
    return found;
}

static void switch_on(struct changes *changes, VkBool32 *member)
{
    const VkBool32 on = VK_TRUE;
    change(changes, member, &on, sizeof on);
}

#endif
