#include "recorder.h"

#include <string.h>

// The call stacks of events.

// Frames at which a walk resumes if the code in between uses the register for something else, as code does that Swift
// calls `DispatchQueue.sync` through.
#define ANCHORS_MAXIMUM 16

typedef struct anchor {
    uintptr_t low;    // below everything that the anchoring function keeps on the stack
    uintptr_t frame;  // of that function
} anchor;

static FL_THREAD_LOCAL struct {
    uint32_t count;
    anchor all[ANCHORS_MAXIMUM];
} anchors;

__attribute__((noinline)) void fl_push_anchor(void) {
    uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    if (anchors.count < ANCHORS_MAXIMUM) {
        anchors.all[anchors.count] = (anchor){.low = own, .frame = fl_caller_of(own)};
    }
    anchors.count++;
}

void fl_pop_anchor(void) { anchors.count--; }

static uint32_t anchor_count(void) { return anchors.count < ANCHORS_MAXIMUM ? anchors.count : ANCHORS_MAXIMUM; }

uintptr_t fl_last_anchor(void) {
    uint32_t count = anchor_count();
    return count == 0 ? 0 : anchors.all[count - 1].frame;
}

// Follows the frame pointers. Libraries without them (libsqlite3, parts of libc) leave garbage in the chain, so a
// frame counts only if it is in this thread's stack, above the previous one. The walk never skips an anchor.
static inline __attribute__((always_inline)) uint32_t walk(
    const fl_stack_bounds *bounds, uintptr_t frame, uint64_t *frames, bool *truncated
) {
    uint32_t count = 0, next = anchor_count();
    while (fl_is_on_stack(bounds, frame)) {
        const uintptr_t *words = (const uintptr_t *)frame;
        if (words[1] == 0) { break; }
        if (count == FL_STACK_FRAMES_MAXIMUM) {
            *truncated = true;
            break;
        }
        frames[count++] = words[1];
        uintptr_t caller = fl_caller_of(frame);
        while (next > 0 && anchors.all[next - 1].low <= frame) { next--; }
        if (next > 0 && (caller <= frame || caller >= anchors.all[next - 1].low)) {
            caller = anchors.all[--next].frame;
        }
        if (caller <= frame) { break; }
        frame = caller;
    }
    return count;
}

// Inserts the frames of interpreted functions where the stack enters the interpreter. Returns the number of all.
static uint32_t insert(const fl_interpreted *interpreted, uint64_t *frames, uint32_t count, bool *truncated) {
    uint32_t first = 0, added = interpreted->count;
    while (first < count && (frames[first] < interpreted->low || frames[first] >= interpreted->high)) { first++; }
    if (first + added > FL_STACK_FRAMES_MAXIMUM) {
        added = FL_STACK_FRAMES_MAXIMUM - first;
        *truncated = true;
    }
    uint32_t rest = count - first;
    if (first + added + rest > FL_STACK_FRAMES_MAXIMUM) {
        rest = FL_STACK_FRAMES_MAXIMUM - first - added;
        *truncated = true;
    }
    memmove(frames + first + added, frames + first, rest * sizeof frames[0]);
    memcpy(frames + first, interpreted->frames, added * sizeof frames[0]);
    return first + added + rest;
}

uint32_t fl_intern_stack(
    fl_recorder *recorder, fl_thread *thread, const fl_interpreted *interpreted, bool *truncated
) {
    uint64_t frames[FL_STACK_FRAMES_MAXIMUM];
    uint32_t count = walk(
        &thread->stack, fl_frame_of_program((uintptr_t)__builtin_frame_address(0)), frames, truncated);
    if (interpreted != NULL) { count = insert(interpreted, frames, count, truncated); }
    if (count == 0) { return 0; }
    uint32_t known = fl_find_entry(recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0]);
    if (known != 0) { return known; }
    fl_list_modules(recorder);
    return fl_intern(
        recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0], *truncated ? "truncated" : "",
        *truncated ? 9 : 0);
}

uint32_t fl_walk_from(const fl_stack_bounds *bounds, uintptr_t frame, uint64_t *frames, bool *truncated) {
    return walk(bounds, frame, frames, truncated);
}
