#include "recorder_peer.h"

#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>

size_t recorder_peer_line(char *out, size_t room, int64_t number) {
    uint64_t start = 1000000 + (uint64_t)number * 137, duration = 41 + (uint64_t)number % 50;
    return (size_t)snprintf(
        out, room,
        "{\"name\":\"wait %s\",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":%" PRIu64 ".%03u,\"dur\":%" PRIu64 ".%03u,\"pid\":%u,"
        "\"tid\":%u,\"args\":{\"id\":%" PRIu64 ",\"main\":%s,\"resource\":\"%s\",\"isBlocking\":%s,\"tries\":%u}},\n",
        "contextQueue", "wait", start / 1000, (unsigned)(start % 1000), duration / 1000, (unsigned)(duration % 1000), 12345, 12345,
        (uint64_t)number + (1ull << 40), "true", "contextQueue",
        "true", (unsigned)number);
}

size_t recorder_peer_format(int64_t count) {
    static char line[512];
    size_t bytes = 0;
    for (int64_t number = 0; number < count; number++) { bytes += recorder_peer_line(line, sizeof line, number); }
    return bytes;
}

int64_t recorder_peer_stacks(int64_t count) {
    void *frames[64];
    int64_t depth = 0;
    for (int64_t number = 0; number < count; number++) { depth = backtrace(frames, 64); }
    return depth;
}
