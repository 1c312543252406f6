#include "ctf_child.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct writer {
    int socket;
    ctf_shared *shared;
    size_t chunk, used;
    unsigned unread;  // chunks that the parent holds
} writer;

static char *room_of(const writer *writer) { return writer->shared->chunks[writer->chunk] + writer->used; }

// Hands the chunk over and waits until another is free. If the parent has gone, nobody is left to read.
static void hand_over(writer *writer) {
    ctf_filled filled = (ctf_filled)writer->used;
    writer->chunk = (writer->chunk + 1) % CHUNKS;
    writer->used = 0;
    atomic_store_explicit(&writer->shared->used[writer->chunk], 0, memory_order_release);
    if (send(writer->socket, &filled, sizeof filled, MSG_NOSIGNAL) != sizeof filled) { _exit(0); }
    writer->unread++;
    while (writer->unread == CHUNKS) {
        char answer;
        if (recv(writer->socket, &answer, 1, 0) != 1) { _exit(0); }
        writer->unread--;
    }
}

static const size_t head = offsetof(ctf_record, message) + offsetof(ctf_message, event);

// The length of a message's data in libbabeltrace2's memory.
static size_t length_of(const ctf_message *message) {
    switch (message->kind) {
    case CTF_ENTRY: case CTF_BEGAN: case CTF_FAILED: return message->length;
    case CTF_STACK: return message->frame_count * sizeof *message->frames;
    default: return 0;
    }
}

static void finish_record(writer *writer, ctf_record *record, size_t size) {
    record->size = (uint32_t)((size + 7) & ~(size_t)7);
    writer->used += record->size;
    atomic_store_explicit(&writer->shared->used[writer->chunk], writer->used, memory_order_release);
}

// Copies a message's data after the message, which is the last one in use.
static void complete(writer *writer, ctf_record *record) {
    ctf_message *message = &record->message;
    size_t length = length_of(message);
    if (head + length > CHUNK_ROOM) {
        message->kind = CTF_MALFORMED;
        length = 0;
    }
    if (writer->used + head + length > CHUNK_ROOM) {
        hand_over(writer);
        ctf_record *moved = (ctf_record *)room_of(writer);
        memcpy(moved, record, head);
        (record = moved, message = &moved->message);
    }
    if (length > 0) {
        char *place = (char *)record + head;
        memcpy(place, message->kind == CTF_STACK ? (const void *)message->frames : message->text, length);
        if (message->kind == CTF_STACK) {
            message->frames = (const uint64_t *)(void *)place;
        } else {
            message->text = place;
        }
    }
    record->kind = message->kind;
    finish_record(writer, record, head + length);
}

// The next message is written here if it is an event.
static fl_event *room_for_event(const writer *writer) {
    return (fl_event *)(void *)(room_of(writer) + CTF_EVENT_OFFSET);
}

static void finish_event(writer *writer) {
    ctf_record *record = (ctf_record *)room_of(writer);
    size_t size = offsetof(fl_event, lists) + room_for_event(writer)->listWords * sizeof(uint64_t);
    record->kind = CTF_EVENT;
    finish_record(writer, record, CTF_EVENT_OFFSET + size);
}

static ctf_record *begin_record(writer *writer) {
    ctf_record *record = (ctf_record *)room_of(writer);
    memset(record, 0, head);
    return record;
}

// Reports the reason for a failure, and ends the process.
_Noreturn static void give_up(writer *writer, const char *problem) {
    ctf_record *record = begin_record(writer);
    record->message = (ctf_message){.kind = CTF_FAILED, .text = problem, .length = strlen(problem)};
    complete(writer, record);
    hand_over(writer);
    _exit(0);
}

// Resets the host's signal handling, which is not the child's. The child ends with its parent, or when libbabeltrace2
// ends it, without output and without a core file.
static void leave_host(void) {
    const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPIPE};
    const int passing[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) { signal(fatal[index], SIG_DFL); }
    for (size_t index = 0; index < sizeof passing / sizeof *passing; index++) { signal(passing[index], SIG_IGN); }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        for (int number = 0; number < 3; number++) { dup2(nowhere, number); }
    }
}

_Noreturn void ctf_child_run(
    int socket, ctf_shared *shared, const ctf_positions *marks, const char *const *directories, size_t count,
    bool names_only
) {
    leave_host();
    writer writer = {.socket = socket, .shared = shared};
    char problem[1024] = "";
    ctf_reader *reader = ctf_open(directories, count, names_only, &shared->positions, problem, sizeof problem);
    if (reader == NULL) { give_up(&writer, problem); }
    reader->marks = marks;
    // Tells the parent that the traces are open.
    hand_over(&writer);
    static ctf_message message;
    for (;;) {
        ctf_kind kind = ctf_next(reader, &message, room_for_event(&writer));
        if (kind == CTF_EVENT) {
            finish_event(&writer);
        } else {
            ctf_record *record = begin_record(&writer);
            memcpy(&record->message, &message, offsetof(ctf_message, event));
            complete(&writer, record);
            memset(&message, 0, offsetof(ctf_message, event));
        }
        if (kind == CTF_END || kind == CTF_FAILED) {
            hand_over(&writer);
            _exit(0);
        }
        if (writer.used >= CHUNK_FULL) { hand_over(&writer); }
    }
}
