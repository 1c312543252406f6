#define _GNU_SOURCE
#include "samples.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// The threads that are sampled.

FL_THREAD_LOCAL fl_sampled_thread fl_sampled;

// Parses a hexadecimal number, and moves `place` behind it.
static uintptr_t parse(const char **place) {
    uintptr_t number = 0;
    for (;; (*place)++) {
        char digit = **place;
        if (digit >= '0' && digit <= '9') {
            number = number << 4 | (uintptr_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            number = number << 4 | (uintptr_t)(digit - 'a' + 10);
        } else {
            return number;
        }
    }
}

// The mapping that contains the stack. The C library's function for a thread's stack takes the thread's lock and allocates.
static fl_stack_bounds find_mapping(uintptr_t address) {
    fl_stack_bounds bounds = {0};
    char text[1025];
    size_t used = 0;
    long file = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) { return bounds; }
    for (;;) {
        long count = syscall(SYS_read, file, text + used, sizeof text - 1 - used);
        if (count <= 0) { break; }
        used += (size_t)count;
        text[used] = 0;
        char *line = text, *end;
        for (; (end = memchr(line, '\n', (size_t)(text + used - line))) != NULL; line = end + 1) {
            const char *place = line;
            uintptr_t low = parse(&place);
            if (*place++ != '-') { continue; }
            uintptr_t high = parse(&place);
            if (address < low || address >= high) { continue; }
            bounds = (fl_stack_bounds){low, high};
            break;
        }
        if (bounds.high != 0) { break; }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        // The rest of a long line, which is a path, is not needed.
        if (used == sizeof text - 1) { used = 0; }
    }
    syscall(SYS_close, file);
    return bounds;
}

void fl_prepare_sampled_thread(void) {
    if (fl_sampled.number != 0) { return; }
    // A forked child's only thread has the stack that its parent's had.
    if (fl_own_bounds.high != 0) { fl_sampled.stack = fl_own_bounds; }
    if (fl_sampled.stack.high == 0) {
        fl_sampled.stack = find_mapping(fl_frame_of_program((uintptr_t)__builtin_frame_address(0)));
    }
    fl_sampled.number = (uint32_t)syscall(SYS_gettid);
    fl_sampled.is_main = fl_sampled.number == (uint32_t)getpid();
}
