#define _GNU_SOURCE
#include "samples.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

// The call stacks of samples. Only one thread at a time is here: the one that records a sample.

static uint64_t frames[FL_STACK_FRAMES_MAXIMUM + 2], interpreted[FL_STACK_FRAMES_MAXIMUM];

// MARK: - The interrupted code

// Whether a word of the stack is the frame of a function that another one called.
static bool is_frame(uintptr_t frame) {
    const uintptr_t *words = (const uintptr_t *)frame;
    uintptr_t caller = fl_caller_of(frame);
    return caller > frame && fl_is_on_stack(&fl_sampled.stack, caller) && fl_is_return_address(words[1]);
}

// Whether an address is in the library of the recorder, whose former frames are left on the stack. A recorder that is a part
// of the program cannot tell.
static bool is_own_code(const fl_sampler_guide *guide, uint64_t address) {
    struct dl_find_object own, other;
    return guide != NULL && _dl_find_object((void *)(uintptr_t)is_own_code, &own) == 0
        && _dl_find_object((void *)(uintptr_t)address, &other) == 0 && own.dlfo_map_start == other.dlfo_map_start;
}

// How far from the stack pointer the frame of a function that keeps frame pointers is looked for, in bytes.
#define SEARCH_BYTES 8192

// The innermost frame that can be followed; 0 if there is none. Code without frame pointers, such as SQLite's, uses the
// register for something else; then the frame of its caller is the first one on the stack above it that looks like one.
static uintptr_t first_frame(const fl_sampler_guide *guide, const fl_interruption *at, bool may_search) {
    fl_stack_bounds live = {.low = at->stack, .high = fl_sampled.stack.high};
    if (fl_is_on_stack(&live, at->frame) && is_frame(at->frame)) { return at->frame; }
    uintptr_t inner = guide == NULL || guide->anchor == NULL ? 0 : guide->anchor(), outer = fl_last_anchor();
    if (fl_is_on_stack(&live, inner)) { return inner; }
    uintptr_t frame = (at->stack + 7) & ~(uintptr_t)7, end = may_search ? frame + SEARCH_BYTES : frame;
    if (fl_is_on_stack(&live, outer) && outer < end) { end = outer; }
    for (; frame < end && fl_is_on_stack(&live, frame); frame += sizeof(uintptr_t)) {
        uintptr_t caller = fl_caller_of(frame);
        // Two frames in a row, because a number can look like one by chance.
        if (caller <= frame || !fl_is_on_stack(&live, caller) || !is_frame(frame) || !is_frame(caller)) { continue; }
        if (!is_own_code(guide, ((const uintptr_t *)frame)[1])) { return frame; }
    }
    return fl_is_on_stack(&live, outer) ? outer : 0;
}

// The words above the stack pointer in which a function that keeps no frame pointer can have its return address.
#define LEAF_WORDS 8

// The return address of an interrupted function that calls no others, for which compilers leave out the frame. The frame
// pointer is then that of its caller, whose own call would be missing. 0 if there is none.
static uint64_t leaf_return_address(const fl_interruption *at, uintptr_t frame) {
    if (at->link != 0) {
        // Some machines keep it in a register.
        bool is_own = fl_is_return_address(at->link) && (frame == 0 || ((const uintptr_t *)frame)[1] != at->link);
        return is_own ? at->link : 0;
    }
    for (uintptr_t place = at->stack, word = 0; word < LEAF_WORDS; word++, place += sizeof(uintptr_t)) {
        if (place + sizeof(uintptr_t) > fl_sampled.stack.high || place >= frame) { return 0; }
        uint64_t address = *(const uintptr_t *)place;
        if (fl_returns_from(address, at->instruction)) { return address; }
    }
    return 0;
}

// The words above the allocator's frame in which a function without a frame has its return address.
#define ALLOCATOR_WORDS 8

// The return address of the function that called the allocator, if it is in a library without frame pointers: C++'s `new` and
// the C library's functions that allocate. Their callers would be missing. 0 if there is none.
static uint64_t caller_without_frame(const fl_interruption *at) {
    struct dl_find_object found;
    if (_dl_find_object((void *)at->instruction, &found) != 0) { return 0; }
    const char *name = found.dlfo_link_map->l_name;
    if (strstr(name, "/libstdc++.so") == NULL && strstr(name, "/libc.so") == NULL && strstr(name, "/libc++.so") == NULL) {
        return 0;
    }
    const uintptr_t *words = (const uintptr_t *)at->frame;
    for (int word = 2; word < 2 + ALLOCATOR_WORDS; word++) {
        if ((uintptr_t)&words[word + 1] > fl_sampled.stack.high) { return 0; }
        if (fl_is_return_address(words[word])) { return words[word]; }
    }
    return 0;
}

// MARK: - Frames

// The frames of interrupted code, without the interrupted instruction itself. Returns their number.
static uint32_t find_frames(const fl_interruption *at, uintptr_t frame, bool is_interpreted, bool *truncated) {
    uint32_t count = 0;
    uint64_t leaf_return = !is_interpreted && frame == at->frame ? leaf_return_address(at, frame) : 0;
    if (leaf_return != 0) { frames[count++] = leaf_return; }
    return count + (frame == 0 ? 0 : fl_walk_from(&fl_sampled.stack, frame, frames + count, truncated));
}

// The frames of a call of the allocator, beginning with the instruction, which is its return address. Returns their number.
static uint32_t find_frames_of_allocation(const fl_interruption *at, uintptr_t frame, bool *truncated) {
    uint64_t between = frame == 0 ? 0 : caller_without_frame(at);
    // The frame at the allocator has the instruction as its return address.
    if (frame == at->frame && between == 0) { return fl_walk_from(&fl_sampled.stack, frame, frames, truncated); }
    uint32_t count = 0;
    frames[count++] = at->instruction;
    if (between != 0) { frames[count++] = between; }
    if (frame == at->frame) { frame = fl_caller_of(frame); }
    return count + (frame == 0 ? 0 : fl_walk_from(&fl_sampled.stack, frame, frames + count, truncated));
}

static bool is_in(const fl_interpreted *interpreter, uint64_t address) {
    return address >= interpreter->low && address < interpreter->high;
}

// Puts the interpreted functions in the place of the interpreter's frames and those outside it. Returns the number of all.
static uint32_t replace_interpreter(const fl_interpreted *interpreter, const fl_interruption *at, uint32_t count) {
    uint32_t outside = 0;
    while (outside < count && !is_in(interpreter, frames[outside])) { outside++; }
    count = is_in(interpreter, at->instruction) ? 0 : outside;
    for (uint32_t index = 0; index < interpreter->count && count < FL_STACK_FRAMES_MAXIMUM; index++) {
        frames[count++] = interpreted[index];
    }
    return count;
}

// MARK: - Adding a stack

// The number of a stack that signal handlers may enter into the dictionary, together with the modules of its addresses.
static uint32_t intern(fl_recorder *recorder, const uint64_t *frames, uint32_t count, bool truncated, bool *is_busy) {
    if (count == 0) { return 0; }
    uint32_t known = fl_find_entry(recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0]);
    if (known != 0) { return known; }
    for (uint32_t index = 0; index < count && !*is_busy; index++) {
        fl_list_module_of(recorder, frames[index], is_busy);
    }
    if (*is_busy) { return 0; }
    return fl_intern_sampled(
        recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0], truncated ? "truncated" : "", is_busy);
}

// The interrupted code, with a stack pointer within the bounds of the thread's stack.
static fl_interruption within_bounds(const fl_interruption *at) {
    fl_interruption known = *at;
    // The stack of another thread of execution, such as a coroutine's, cannot be walked: its bounds are not known.
    bool is_own = at->stack >= fl_sampled.stack.low && at->stack < fl_sampled.stack.high;
    if (!is_own) { known.stack = fl_sampled.stack.high; }
    return known;
}

void fl_add_sampled_stack(
    fl_recorder *recorder, const fl_sampler_guide *guide, const fl_interruption *interruption, fl_header *header,
    uint32_t *leaf, bool *is_busy
) {
    fl_interruption at = within_bounds(interruption);
    fl_interpreted interpreter = {0};
    bool truncated = false;
    if (guide != NULL && guide->interpreted != NULL) {
        interpreter.count = guide->interpreted(
            recorder, interpreted, FL_STACK_FRAMES_MAXIMUM, &interpreter, &truncated, is_busy);
    }
    bool is_interpreted = interpreter.count > 0;
    uintptr_t frame = first_frame(guide, &at, !is_interpreted);
    uint32_t count = leaf == NULL ? find_frames_of_allocation(&at, frame, &truncated)
                                  : find_frames(&at, frame, is_interpreted, &truncated);
    if (count > FL_STACK_FRAMES_MAXIMUM) { count = FL_STACK_FRAMES_MAXIMUM; }
    if (is_interpreted) { count = replace_interpreter(&interpreter, &at, count); }
    header->stack = intern(recorder, frames, count, truncated, is_busy);
    if (truncated) { header->flags |= FL_STACK_TRUNCATED; }
    if (leaf != NULL && !(is_interpreted && is_in(&interpreter, at.instruction))) {
        // Readers look up the instruction before a return address.
        uint64_t address = at.instruction + 1;
        *leaf = intern(recorder, &address, 1, false, is_busy);
    }
}
