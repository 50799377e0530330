/* Submissions make queries ready, and waiting tells when they are over. */
#ifndef RUNNING_H
#define RUNNING_H

#include <time.h>
#include <unistd.h>

#include "state.h"

/* ── Submissions ─────────────────────────────────────────────────────────────────────────────────────────────────── */

static struct queue *queue_of(VkQueue handle)
{
    for (struct queue *each = queues; each; each = each->next)
        if (each->handle == handle)
            return each;
    struct queue *queue = calloc(1, sizeof *queue);
    queue->handle = handle;
    queue->next = queues;
    return queues = queue;
}

static struct fence *fence_of(VkFence handle)
{
    struct fence *each = fences;
    while (each && each->handle != handle)
        each = each->next;
    return each;
}

static void forget_fence(VkFence handle)
{
    struct fence **link = &fences;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    if (*link) {
        struct fence *gone = *link;
        *link = gone->next;
        free(gone);
    }
}

/* An error for a submission or a wait, once there was something instrumented. */
static VkResult queue_failure(const char *name)
{
    if (lost)
        return VK_ERROR_DEVICE_LOST;
    VkResult result = instrumented_submissions ? failure(name) : VK_SUCCESS;
    if (result == VK_ERROR_DEVICE_LOST) {
        lost = true;
        NEXT(vkDeviceWaitIdle)(the_device); /* what a lost device was at may be destroyed at once */
        for (struct queue *each = queues; each; each = each->next)
            each->completed = each->submitted;
    }
    return result;
}

/* Makes a recording's queries ready for another run of it. Returns whether it instruments. */
static bool prepare(struct recording *recording, struct queue *queue, uint64_t submission)
{
    bool instruments = recording->instruments;
    if (recording->command_count && recording->queue == queue && recording->submission == submission) {
        fputs("instrumentation-layer: twice in one submission: its queries can't count that\n", stderr);
        abort();
    }
    if (!collect(recording)) { /* of simultaneous use: an earlier run is not over */
        NEXT(vkDeviceWaitIdle)(the_device);
        collect(recording);
    }
    PFN_vkResetQueryPool reset = NEXT(vkResetQueryPoolEXT);
    for (size_t i = 0; i < recording->command_count; ++i) {
        if (!recording->commands[i].object)
            complain("VUID-vkQueueSubmit-pCommandBuffers-00070", "its instrumentation object is destroyed");
        reset(the_device, recording->commands[i].pool, 0, VIEWS);
        recording->commands[i].uncollected = true;
    }
    recording->queue = queue;
    recording->submission = submission;
    for (size_t i = 0; i < recording->secondary_count; ++i)
        instruments |= prepare(recording->secondaries[i], queue, submission);
    return instruments;
}

/* It was refused: none of it runs. */
static void withdraw(struct queue *queue, uint64_t submission)
{
    for (struct recording *each = recordings; each; each = each->next) {
        if (each->queue != queue || each->submission != submission)
            continue;
        each->queue = NULL;
        for (size_t i = 0; i < each->command_count; ++i)
            each->commands[i].uncollected = false;
    }
}

struct submission {
    struct queue *queue;
    uint64_t number;
    bool instruments;
};

static struct submission begin_submission(VkQueue handle)
{
    struct queue *queue = queue_of(handle);
    return (struct submission){queue, ++queue->submitted, false};
}

static void submit_buffer(struct submission *submission, VkCommandBuffer buffer)
{
    struct recording *recording = recording_of(buffer);
    if (recording)
        submission->instruments |= prepare(recording, submission->queue, submission->number);
}

static VkResult submit_failure(struct submission *submission, const char *name)
{
    if (submission->instruments) {
        ++instrumented_submissions;
        say("submit");
        uint32_t hang = number("INSTRUMENTATION_HANG", 0);
        if (hang && instrumented_submissions >= hang && !submission->queue->hung)
            submission->queue->hung = submission->number;
    }
    return queue_failure(name);
}

static VkResult end_submission(struct submission *submission, VkFence handle, VkResult result)
{
    if (result != VK_SUCCESS) {
        withdraw(submission->queue, submission->number);
    } else if (handle) {
        forget_fence(handle);
        struct fence *fence = calloc(1, sizeof *fence);
        *fence = (struct fence){fences, handle, submission->queue, submission->number};
        fences = fence;
    }
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(
    VkQueue queue, uint32_t count, const VkSubmitInfo *infos, VkFence fence)
{
    pthread_mutex_lock(&lock);
    struct submission submission = begin_submission(queue);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < infos[i].commandBufferCount; ++j)
            submit_buffer(&submission, infos[i].pCommandBuffers[j]);
    VkResult result = submit_failure(&submission, "vkQueueSubmit");
    if (result == VK_SUCCESS)
        result = NEXT(vkQueueSubmit)(queue, count, infos, fence);
    result = end_submission(&submission, fence, result);
    pthread_mutex_unlock(&lock);
    return result;
}

static VkResult submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence, const char *name)
{
    pthread_mutex_lock(&lock);
    struct submission submission = begin_submission(queue);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t j = 0; j < infos[i].commandBufferInfoCount; ++j)
            submit_buffer(&submission, infos[i].pCommandBufferInfos[j].commandBuffer);
    VkResult result = submit_failure(&submission, name);
    if (result == VK_SUCCESS)
        result = ((PFN_vkQueueSubmit2)next.device_proc(the_device, name))(queue, count, infos, fence);
    result = end_submission(&submission, fence, result);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2(
    VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    return submit2(queue, count, infos, fence, "vkQueueSubmit2");
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit2_khr(
    VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    return submit2(queue, count, infos, fence, "vkQueueSubmit2KHR");
}

/* ── Waiting ─────────────────────────────────────────────────────────────────────────────────────────────────────── */

static void over(VkFence handle)
{
    struct fence *fence = fence_of(handle);
    if (fence && fence->queue->completed < fence->submission)
        fence->queue->completed = fence->submission;
}

static void all_over(VkQueue only)
{
    pthread_mutex_lock(&lock);
    for (struct queue *each = queues; each; each = each->next)
        if (!only || each->handle == only)
            each->completed = each->submitted;
    pthread_mutex_unlock(&lock);
}

static bool fence_hangs(VkFence handle)
{
    struct fence *fence = fence_of(handle);
    return fence && fence->queue->hung && fence->submission >= fence->queue->hung;
}

static bool queue_hangs(VkQueue only)
{
    for (struct queue *each = queues; each; each = each->next)
        if ((!only || each->handle == only) && each->hung)
            return true;
    return false;
}

/* As long as the caller may wait, in nanoseconds. */
static VkResult wait_in_vain(uint64_t limit)
{
    const uint64_t second = 1000000000;
    say("waits in vain");
    struct timespec left = {.tv_sec = (time_t)(limit / second), .tv_nsec = (long)(limit % second)};
    if (limit / second > 1000000)
        for (;;)
            pause();
    while (nanosleep(&left, &left) != 0) {
    }
    return VK_TIMEOUT;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(
    VkDevice device, uint32_t count, const VkFence *handles, VkBool32 all, uint64_t limit)
{
    bool hangs = false;
    pthread_mutex_lock(&lock);
    VkResult result = queue_failure("vkWaitForFences");
    for (uint32_t i = 0; i < count; ++i)
        hangs |= fence_hangs(handles[i]);
    pthread_mutex_unlock(&lock);
    if (result != VK_SUCCESS)
        return result;
    if (hangs)
        return wait_in_vain(limit);
    result = NEXT(vkWaitForFences)(device, count, handles, all, limit);
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; ++i)
        if (all || NEXT(vkGetFenceStatus)(device, handles[i]) == VK_SUCCESS)
            over(handles[i]);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL get_fence_status(VkDevice device, VkFence handle)
{
    pthread_mutex_lock(&lock);
    VkResult result = queue_failure("vkGetFenceStatus");
    if (result == VK_SUCCESS)
        result = fence_hangs(handle) ? VK_NOT_READY : NEXT(vkGetFenceStatus)(device, handle);
    if (result == VK_SUCCESS)
        over(handle);
    pthread_mutex_unlock(&lock);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL reset_fences(VkDevice device, uint32_t count, const VkFence *handles)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; ++i)
        forget_fence(handles[i]);
    pthread_mutex_unlock(&lock);
    return NEXT(vkResetFences)(device, count, handles);
}

static VKAPI_ATTR void VKAPI_CALL destroy_fence(VkDevice device, VkFence handle, const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    forget_fence(handle);
    pthread_mutex_unlock(&lock);
    NEXT(vkDestroyFence)(device, handle, allocator);
}

static VkResult wait_for_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit, const char *name)
{
    VkResult result = queue_failure(name);
    if (result != VK_SUCCESS)
        return result;
    if (queue_hangs(NULL))
        return wait_in_vain(limit);
    result = ((PFN_vkWaitSemaphores)next.device_proc(the_device, name))(device, info, limit);
    if (result == VK_SUCCESS)
        all_over(NULL);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit)
{
    return wait_for_semaphores(device, info, limit, "vkWaitSemaphores");
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores_khr(
    VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t limit)
{
    return wait_for_semaphores(device, info, limit, "vkWaitSemaphoresKHR");
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    VkResult result = queue_failure("vkQueueWaitIdle");
    if (result == VK_SUCCESS && queue_hangs(queue))
        wait_in_vain(UINT64_MAX);
    if (result == VK_SUCCESS)
        result = NEXT(vkQueueWaitIdle)(queue);
    if (result == VK_SUCCESS)
        all_over(queue);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    VkResult result = queue_failure("vkDeviceWaitIdle");
    if (result == VK_SUCCESS && queue_hangs(NULL))
        wait_in_vain(UINT64_MAX);
    if (result == VK_SUCCESS)
        result = NEXT(vkDeviceWaitIdle)(device);
    if (result == VK_SUCCESS)
        all_over(NULL);
    return result;
}

#endif
