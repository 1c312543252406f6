#include "ctf_child.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct ctf_child {
    pid_t process;  // 0: already waited for
    int socket;
    ctf_shared *shared;
    size_t chunk;         // the one being read
    size_t offset, end;   // of its unread part
    bool has_chunk;       // owned by the child, which waits for its return
    bool has_ended;
    ctf_message failure;
    char problem[1024];
};

// Forks with only what the child may use: the plugins are loaded, and no other thread is in this function. glibc keeps
// its allocator and loader usable in the child of a multithreaded process, and glib depends on no other locks. Only
// this library's code runs in the child.
static pid_t start(ctf_child *child, int ends[2], const ctf_child *before, const char *const *directories, size_t count,
                   bool names_only) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pid_t process = -1;
    errno = 0;
    if (ctf_find_plugins()) { process = fork(); }
    if (process == 0) {
        close(ends[0]);
        ctf_child_run(
            ends[1], child->shared, before == NULL ? NULL : &before->shared->positions, directories, count, names_only);
    }
    int number = errno;
    pthread_mutex_unlock(&lock);
    errno = number;
    return process;
}

// Waits for the child, which has ended or is about to; returns its signal, or 0.
static int reap(ctf_child *child) {
    int status = 0;
    if (child->process == 0) { return 0; }
    pid_t waited;
    do { waited = waitpid(child->process, &status, 0); } while (waited < 0 && errno == EINTR);
    bool is_known = waited == child->process;
    child->process = 0;
    return is_known && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Receives the child's next chunk; false if the child has ended abnormally.
static bool receive(ctf_child *child) {
    ctf_filled filled = 0;
    ssize_t size;
    // A child that ends with unread answers resets the connection. recv reports that once, and then returns the data
    // that the child had sent.
    do {
        size = recv(child->socket, &filled, sizeof filled, 0);
    } while (size < 0 && (errno == EINTR || errno == ECONNRESET));
    child->offset = 0;
    if (size == sizeof filled && filled <= CHUNK_ROOM) {
        child->end = filled;
        return child->has_chunk = true;
    }
    // The child had completed this much.
    size_t used = atomic_load_explicit(&child->shared->used[child->chunk], memory_order_acquire);
    child->end = used <= CHUNK_ROOM ? used : 0;
    child->has_ended = true;
    int number = reap(child);
    const char *name = number == 0 ? NULL : strsignal(number);
    snprintf(
        child->problem, sizeof child->problem, "libbabeltrace2 failed while reading it%s%s%s", name == NULL ? "" : " (\"",
        name == NULL ? "" : name, name == NULL ? "" : "\")");
    child->failure = (ctf_message){.kind = CTF_FAILED, .text = child->problem, .length = strlen(child->problem)};
    return false;
}

ctf_child *ctf_child_open(
    const char *const *directories, size_t count, bool names_only, const ctf_child *before, char *problem, size_t room
) {
    int ends[2] = {-1, -1};
    ctf_child *child = calloc(1, sizeof *child);
    if (child != NULL) {
        child->shared = mmap(
            NULL, sizeof *child->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (child->shared == MAP_FAILED) { child->shared = NULL; }
        child->socket = -1;
    }
    if (child == NULL || child->shared == NULL || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        snprintf(problem, room, "there is not enough memory to read it");
        ctf_child_close(child);
        return NULL;
    }
    child->socket = ends[0];
    child->process = start(child, ends, before, directories, count, names_only);
    int number = errno;
    close(ends[1]);
    if (child->process < 0) {
        child->process = 0;
        if (number == 0) {
            snprintf(problem, room, "the plugins of babeltrace2 are not installed");
        } else {
            snprintf(problem, room, "no process can be started to read it: %s", strerror(number));
        }
        ctf_child_close(child);
        return NULL;
    }
    if (receive(child) && child->end == 0) { return child; }
    ctf_message *message = &child->failure;
    if (!child->has_ended) { ctf_child_next(child, &message); }
    snprintf(problem, room, "%.*s", (int)message->length, message->text == NULL ? "" : message->text);
    ctf_child_close(child);
    return NULL;
}

ctf_kind ctf_child_next(ctf_child *child, ctf_message **message) {
    for (;;) {
        if (child->offset < child->end) {
            ctf_record *record = (ctf_record *)(child->shared->chunks[child->chunk] + child->offset);
            child->offset += record->size;
            if (record->kind == CTF_EVENT) {
                *message = (ctf_message *)(void *)((char *)record + CTF_EVENT_OFFSET - offsetof(ctf_message, event));
                return CTF_EVENT;
            }
            *message = &record->message;
            // The record that was being written when the child ended comes after the last complete one.
            if (record->message.kind == CTF_END || record->message.kind == CTF_FAILED) {
                child->has_ended = true;
                child->failure = record->message;
            }
            return record->message.kind;
        }
        if (child->has_ended) {
            *message = &child->failure;
            return child->failure.kind;
        }
        if (child->has_chunk) {
            child->has_chunk = false;
            child->chunk = (child->chunk + 1) % CHUNKS;
            // If the child has ended meanwhile, its earlier messages can still be received.
            send(child->socket, "", 1, MSG_NOSIGNAL);
        }
        receive(child);
    }
}

void ctf_child_close(ctf_child *child) {
    if (child == NULL) { return; }
    if (child->socket >= 0) { close(child->socket); }
    if (child->process > 0) {
        kill(child->process, SIGKILL);
        reap(child);
    }
    if (child->shared != NULL) { munmap(child->shared, sizeof *child->shared); }
    free(child);
}
