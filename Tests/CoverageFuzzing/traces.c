// Feeds the reader of CTF with changed files of a sound trace: its streams, their indexes and the metadata.
// FAULTLINE_FUZZ_TRACE names the folder of the trace.

#define _GNU_SOURCE  // dladdr, nftw
#include "ctf_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FILES_MAXIMUM 16

// In bytes, as LTTng writes them.
#define METADATA_PACKET 4096
#define METADATA_HEADER 37

typedef struct sound_file {
    char path[4096];  // of its copy
    bool is_metadata;
    char *bytes;
    size_t size;
} sound_file;

static char directory[64];
static const char *original;
static sound_file files[FILES_MAXIMUM];
static size_t file_count;

static int remove_file(const char *path, const struct stat *state, int kind, struct FTW *walk) {
    (void)state, (void)kind, (void)walk;
    return remove(path);
}
static void remove_files(void) { nftw(directory, remove_file, 16, FTW_DEPTH | FTW_PHYS); }

static void write_file(const sound_file *file) {
    int out = open(file->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || write(out, file->bytes, file->size) != (ssize_t)file->size) { abort(); }
    close(out);
}

static int copy_file(const char *path, const struct stat *state, int kind, struct FTW *walk) {
    char copy[4096];
    snprintf(copy, sizeof copy, "%s%s", directory, path + strlen(original));
    // The files that Faultline adds to a trace do not begin like files of CTF.
    if (kind == FTW_D) { return walk->level == 0 || mkdir(copy, 0700) == 0 ? 0 : -1; }
    if (path[walk->base] == '.' || state->st_size == 0) { return 0; }
    if (file_count == FILES_MAXIMUM) { return -1; }
    sound_file *file = &files[file_count++];
    memcpy(file->path, copy, sizeof copy);
    file->is_metadata = strcmp(path + walk->base, "metadata") == 0;
    file->size = (size_t)state->st_size;
    file->bytes = malloc(file->size);
    int in = open(path, O_RDONLY);
    if (in < 0 || read(in, file->bytes, file->size) != (ssize_t)file->size) { return -1; }
    close(in);
    write_file(file);
    return 0;
}

static void copy_trace(void) {
    original = getenv("FAULTLINE_FUZZ_TRACE");
    strcpy(directory, "/dev/shm/faultline-fuzz-XXXXXX");
    if (original == NULL || mkdtemp(directory) == NULL) { abort(); }
    atexit(remove_files);
    if (nftw(original, copy_file, 16, FTW_PHYS) != 0 || file_count == 0) { abort(); }
}

// The sum of all bytes of a message, which a sanitizer then has seen.
static size_t sum_of(const void *bytes, size_t size) {
    size_t sum = 0;
    for (size_t index = 0; index < size; index++) { sum += ((const unsigned char *)bytes)[index]; }
    return sum;
}

static void read_trace(void) {
    static ctf_positions positions;
    static ctf_message message;
    static fl_event event;
    static volatile size_t sum;
    char problem[1024] = "";
    memset(&positions, 0, sizeof positions.count);
    const char *directories[] = {directory};
    ctf_reader *reader = ctf_open(directories, 1, false, &positions, problem, sizeof problem);
    if (reader == NULL) { return; }
    for (;;) {
        ctf_kind kind = ctf_next(reader, &message, &event);
        if (kind == CTF_END || kind == CTF_FAILED) { break; }
        if (kind == CTF_EVENT) {
            sum += sum_of(&event, offsetof(fl_event, lists) + event.listWords * sizeof(uint64_t));
        } else if (kind == CTF_STACK) {
            sum += sum_of(message.frames, message.frame_count * sizeof *message.frames);
        } else if (kind == CTF_ENTRY || kind == CTF_BEGAN) {
            sum += sum_of(message.text, message.length);
        }
    }
    ctf_close(reader);
}

// MARK: - The process that reads

// libbabeltrace2 ends its process on some damaged traces, so inputs are read in a process of their own. It hands back the
// counters by which libFuzzer sees what an input has reached. A new process takes its place when it has ended.
#define FAILED 77  // its status if a sanitizer found something; libbabeltrace2 ends it with another

// The linker's names for them are the compiler's own in this file, so the build calls them something else.
extern char first_counter[], end_of_counters[];
static char *reached;
static pid_t process;
static int requests[2], answers[2];

static size_t counter_count(void) { return (size_t)(end_of_counters - first_counter); }

// The stacks of allocations are kept for no one: half of the time would go there.
const char *__asan_default_options(void) {
    return "exitcode=77:malloc_context_size=0:quarantine_size_mb=1:detect_leaks=0"
           ":handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
const char *__ubsan_default_options(void) { return "exitcode=77"; }

static void take_signal(int number, siginfo_t *info, void *state) {
    (void)number, (void)info;
    Dl_info place, here;
    const void *program_counter = (const void *)((ucontext_t *)state)->uc_mcontext.gregs[REG_RIP];
    bool is_ours = dladdr(program_counter, &place) != 0 && dladdr((const void *)read_trace, &here) != 0
        && place.dli_fbase == here.dli_fbase;
    memcpy(reached, first_counter, counter_count());
    _exit(is_ours ? FAILED : 1);
}

_Noreturn static void serve(void) {
    const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action = {.sa_sigaction = take_signal, .sa_flags = SA_SIGINFO};
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) { sigaction(fatal[index], &action, NULL); }
    char byte;
    while (read(requests[0], &byte, 1) == 1) {
        memset(first_counter, 0, counter_count());
        read_trace();
        memcpy(reached, first_counter, counter_count());
        if (write(answers[1], &byte, 1) != 1) { break; }
    }
    _exit(0);
}

static void start_process(void) {
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0 || (process = fork()) < 0) { abort(); }
    if (process == 0) {
        close(requests[1]);
        serve();
    }
    close(requests[0]);
    close(answers[1]);
}

static void end_process(void) {
    close(requests[1]);
    close(answers[0]);
    int status = 0;
    while (waitpid(process, &status, 0) != process) {
        if (errno != EINTR) { abort(); }
    }
    process = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == FAILED) { abort(); }
}

static void read_in_process(void) {
    static unsigned count;
    if (process == 0) { start_process(); }
    char byte = 0;
    ssize_t size;
    if (write(requests[1], &byte, 1) != 1) { abort(); }
    do { size = read(answers[0], &byte, 1); } while (size < 0 && errno == EINTR);
    // libbabeltrace2 does not return all of its memory.
    if (size != 1 || ++count % 1000 == 0) { end_process(); }
    memcpy(first_counter, reached, counter_count());
}

static void begin(void) {
    copy_trace();
    if (!ctf_find_plugins()) { abort(); }
    reached = mmap(NULL, counter_count(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reached == MAP_FAILED) { abort(); }
}

// The first byte names the file. Each change takes its place, as three bytes, and the new byte.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (file_count == 0) { begin(); }
    if (size < 5) { return 0; }
    const sound_file *file = &files[bytes[0] % file_count];
    int out = open(file->path, O_RDWR);
    if (out < 0) { abort(); }
    for (size_t at = 1; at + 4 <= size; at += 4) {
        size_t place = ((size_t)bytes[at] | (size_t)bytes[at + 1] << 8 | (size_t)bytes[at + 2] << 16) % file->size;
        // libbabeltrace2 reads a damaged header of the metadata's packets forever. So Faultline checks them before it does.
        if (file->is_metadata && place % METADATA_PACKET < METADATA_HEADER) { place += METADATA_HEADER; }
        if (pwrite(out, &bytes[at + 3], 1, (off_t)place) != 1) { abort(); }
    }
    close(out);
    read_in_process();
    write_file(file);
    return 0;
}
