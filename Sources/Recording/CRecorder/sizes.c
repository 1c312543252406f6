#include "recorder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

// The number of large rings, for the threads that record first, because they record most.
#define LARGE_RINGS 4
// About a hundred thousand events: a drainer that gets no CPU for that long still loses none.
#define LARGE_RING_BYTES (16u << 20)
// The fractions of the memory, and of the free space for the rings, that a large ring may take.
#define PART_OF_MEMORY 256
#define PART_OF_ROOM 8

// The memory that this process may use: the machine's, or the limit of its control group.
static uint64_t memory(void) {
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char text[32];
    int descriptor = open("/sys/fs/cgroup/memory.max", O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);
    if (descriptor >= 0) { close(descriptor); }
    if (length <= 0) { return bytes; }
    text[length] = 0;
    uint64_t limit = strtoull(text, NULL, 10);  // "max": none
    return limit > 0 && limit < bytes ? limit : bytes;
}

uint64_t fl_ring_bytes(const char *path, uint32_t number) {
    if (number >= LARGE_RINGS) { return FL_RING_BYTES; }
    uint64_t most = memory() / PART_OF_MEMORY;
    struct statvfs room;
    if (path != NULL && statvfs(path, &room) == 0) {
        uint64_t part = (uint64_t)room.f_bavail * room.f_frsize / PART_OF_ROOM;
        if (part < most) { most = part; }
    }
    uint64_t bytes = LARGE_RING_BYTES;
    while (bytes > FL_RING_BYTES && bytes > most) { bytes >>= 1; }
    return bytes;
}
