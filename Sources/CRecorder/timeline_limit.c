#define _GNU_SOURCE
#include "faultline_text.h"
#include "timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Shortening a timeline: a copy without the oldest events takes the place of the file. Whoever reads the file meanwhile, or
// finds it after this process was killed, has the longer one or the shorter one.

// The bytes that are read at a time; a line is never longer.
#define CHUNK_BYTES (4 * FL_LINE_BYTES)

// The number of names to try for the copy.
#define NAMES 16

// What is kept of a timeline.
typedef struct selection {
    fl_timeline *timeline;
    uint64_t cut;            // the offset of the first event that is kept
    uint64_t from;           // when that event ended, in nanoseconds since the trace began
    bool has_begun;          // whether `from` is known
    uint32_t *processes;     // the numbers of the processes whose names are kept
    uint32_t count, room;
    bool has_first;          // whether the first line of a process was written
    int copy;
    char *name;              // of the copy; null: none
    char *buffer;            // of the copy
    size_t used;
    uint64_t written;
} selection;

// MARK: - Lines

// The place after a text in a line; null if the line does not have it. A key with its quotes is found only where it is one:
// quotes within a string have a backslash.
static const char *after(const char *line, size_t length, const char *text) {
    const char *found = memmem(line, length, text, strlen(text));
    return found == NULL ? NULL : found + strlen(text);
}

// The digits after a key, without a decimal point; 0 if the line does not have it.
static uint64_t number(const char *line, size_t length, const char *key) {
    const char *place = after(line, length, key);
    uint64_t value = 0;
    for (; place != NULL && place < line + length; place++) {
        if (*place == '.') { continue; }
        if (*place < '0' || *place > '9') { break; }
        value = value * 10 + (uint64_t)(*place - '0');
    }
    return value;
}

static bool is_about_names(const char *line, size_t length) { return after(line, length, ",\"ph\":\"M\",\"pid\":") != NULL; }

// Passes every complete line between two offsets, with its line feed. False with errno set.
static bool each_line(
    const fl_timeline *timeline, uint64_t start, uint64_t end, selection *selection,
    bool (*take)(struct selection *selection, const char *line, size_t length)
) {
    char *chunk = malloc(CHUNK_BYTES);
    bool is_good = chunk != NULL;
    while (is_good && start < end) {
        size_t wanted = end - start < CHUNK_BYTES ? (size_t)(end - start) : CHUNK_BYTES;
        ssize_t length = pread(timeline->descriptor, chunk, wanted, (off_t)start);
        const char *last = length > 0 ? memrchr(chunk, '\n', (size_t)length) : NULL;
        if (last == NULL) {
            if (length >= 0) { errno = EIO; }
            is_good = false;
            break;
        }
        for (const char *line = chunk; is_good && line <= last;) {
            const char *stop = memchr(line, '\n', (size_t)(last + 1 - line)) + 1;
            is_good = take(selection, line, (size_t)(stop - line));
            line = stop;
        }
        start += (uint64_t)(last + 1 - chunk);
    }
    int failure = errno;
    free(chunk);
    errno = failure;
    return is_good;
}

// MARK: - The selection

static bool keeps(const selection *selection, uint32_t process) {
    for (uint32_t index = selection->count; index-- > 0;) {
        if (selection->processes[index] == process) { return true; }
    }
    return false;
}

static bool keep(selection *selection, uint32_t process) {
    if (keeps(selection, process)) { return true; }
    if (selection->count == selection->room) {
        uint32_t room = selection->room == 0 ? 64 : 2 * selection->room;
        uint32_t *processes = realloc(selection->processes, room * sizeof *processes);
        if (processes == NULL) { return false; }
        (selection->processes = processes, selection->room = room);
    }
    selection->processes[selection->count++] = process;
    return true;
}

static bool select_line(selection *selection, const char *line, size_t length) {
    bool is_event = !is_about_names(line, length);
    if (is_event && !selection->has_begun) {
        selection->has_begun = true;
        selection->from = number(line, length, ",\"ts\":") + number(line, length, ",\"dur\":");
    }
    return keep(selection, (uint32_t)number(line, length, ",\"pid\":"));
}

// MARK: - The copy

static bool flush(selection *selection) {
    size_t done = 0;
    while (done < selection->used) {
        ssize_t count = write(selection->copy, selection->buffer + done, selection->used - done);
        if (count <= 0) {
            if (count < 0 && errno == EINTR) { continue; }
            if (count == 0) { errno = ENOSPC; }
            return false;
        }
        done += (size_t)count;
    }
    selection->written += selection->used;
    selection->used = 0;
    return true;
}

static char *room_for(selection *selection, size_t length) {
    if (selection->used + length > CHUNK_BYTES && !flush(selection)) { return NULL; }
    return selection->buffer + selection->used;
}

static bool copy_line(selection *selection, const char *line, size_t length) {
    char *out = room_for(selection, length);
    if (out == NULL) { return false; }
    memcpy(out, line, length);
    selection->used += length;
    return true;
}

// The first line of a process, which then begins where the kept events do. The first one of the file states the number of
// removed events.
static bool copy_beginning(selection *selection, const char *line, size_t length) {
    static const char start_key[] = "\"start\":", date_key[] = ",\"date\":", program_key[] = ",\"program\":";
    const char *start = after(line, length, start_key), *date = after(line, length, date_key);
    const char *program = after(line, length, program_key);
    char *out = room_for(selection, length + 128);
    if (out == NULL) { return false; }
    if (start == NULL || date == NULL || program == NULL) { return copy_line(selection, line, length); }
    uint64_t began = number(line, length, start_key), from = selection->from > began ? selection->from : began;
    char *end = mempcpy(out, line, (size_t)(start - line));
    end = fl_put_number(end, from);
    end += sprintf(end, ",\"date\":%.6f", strtod(date, NULL) + (double)(from - began) / 1e9);
    if (!selection->has_first) {
        end = fl_put_text(end, ",\"removed\":");
        end = fl_put_number(end, selection->timeline->removed);
        selection->has_first = true;
    }
    program -= sizeof program_key - 1;
    end = mempcpy(end, program, (size_t)(line + length - program));
    selection->used += (size_t)(end - out);
    return true;
}

static bool copy_names(selection *selection, const char *line, size_t length) {
    if (!is_about_names(line, length)) { return true; }
    if (!keeps(selection, (uint32_t)number(line, length, ",\"pid\":"))) { return true; }
    bool begins = after(line, length, "{\"name\":\"faultline.began\"") != NULL;
    return begins ? copy_beginning(selection, line, length) : copy_line(selection, line, length);
}

// A process that began after the cut keeps its own beginning.
static bool copy_rest(selection *selection, const char *line, size_t length) {
    bool begins = is_about_names(line, length) && after(line, length, "{\"name\":\"faultline.began\"") != NULL;
    return begins ? copy_beginning(selection, line, length) : copy_line(selection, line, length);
}

static bool count_removed(selection *selection, const char *line, size_t length) {
    bool is_event = length > 2 && !is_about_names(line, length) && after(line, length, ",\"cat\":\"flow\",") == NULL;
    if (is_event) { selection->timeline->removed++; }
    return true;
}

// MARK: - Shortening

// The beginning of the first line at an offset or after it.
static uint64_t line_at(const fl_timeline *timeline, uint64_t offset) {
    char *text = malloc(CHUNK_BYTES);
    ssize_t length = text == NULL ? -1 : pread(timeline->descriptor, text, CHUNK_BYTES, (off_t)offset);
    const char *end = length > 0 ? memchr(text, '\n', (size_t)length) : NULL;
    uint64_t line = end == NULL ? 0 : offset + (uint64_t)(end + 1 - text);
    free(text);
    return line;
}

// A name beside the timeline. Null with errno set.
static char *name_beside(const fl_timeline *timeline, int attempt) {
    char *name;
    return asprintf(&name, "%s.shortened-%d-%d", timeline->path, (int)getpid(), attempt) < 0 ? NULL : name;
}

// Opens the copy: a file without a name in the timeline's directory, which disappears if this process is killed, or one with
// a name where the file system has no such files. False with errno set.
static bool open_copy(selection *selection) {
    char *directory = strdup(selection->timeline->path);
    if (directory == NULL) { return false; }
    char *slash = strrchr(directory, '/');
    if (slash != NULL) { slash[slash == directory ? 1 : 0] = 0; }
    selection->copy = fl_open_apart(directory, O_RDWR | O_TMPFILE, 0600, FL_DESCRIPTOR_APART);
    int failure = errno;
    free(directory);
    bool is_supported = failure != EOPNOTSUPP && failure != EISDIR && failure != ENOENT && failure != EINVAL;
    for (int attempt = 0; selection->copy < 0 && !is_supported && attempt < NAMES; attempt++) {
        free(selection->name);
        selection->name = name_beside(selection->timeline, attempt);
        if (selection->name == NULL) { return false; }
        selection->copy = fl_open_apart(selection->name, O_RDWR | O_CREAT | O_EXCL, 0600, FL_DESCRIPTOR_APART);
        failure = errno;
        if (failure != EEXIST) { break; }
    }
    errno = failure;
    return selection->copy >= 0;
}

// Gives a copy without a name one beside the timeline, because a link cannot replace a file. False with errno set.
static bool name_copy(selection *selection) {
    char file[32];
    snprintf(file, sizeof file, "/proc/self/fd/%d", selection->copy);
    for (int attempt = 0; attempt < NAMES; attempt++) {
        char *name = name_beside(selection->timeline, attempt);
        if (name == NULL) { return false; }
        if (linkat(AT_FDCWD, file, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            selection->name = name;
            return true;
        }
        int failure = errno;
        free(name);
        errno = failure;
        if (errno != EEXIST) { return false; }
    }
    return false;
}

// Gives the copy the timeline's name, unless another file has taken that place meanwhile. False with errno set.
static bool replace(selection *selection) {
    const fl_timeline *timeline = selection->timeline;
    struct stat status;
    if (selection->name == NULL && !name_copy(selection)) { return false; }
    if (lstat(timeline->path, &status) != 0) { return false; }
    if (!fl_is_same((fl_identity){.device = status.st_dev, .inode = status.st_ino}, timeline->identity)) {
        errno = ESTALE;
        return false;
    }
    return rename(selection->name, timeline->path) == 0;
}

static bool write_copy(selection *selection) {
    const fl_timeline *timeline = selection->timeline;
    return copy_line(selection, "[\n", 2)
        && each_line(timeline, 2, selection->cut, selection, copy_names)
        && each_line(timeline, selection->cut, timeline->offset, selection, copy_rest) && flush(selection);
}

uint64_t fl_timeline_size(const fl_timeline *timeline) { return timeline->offset + timeline->used; }

// Notes the trace's file and its length in the mapped files of processes.
static void commit(fl_drain *const *drains, uint32_t count, fl_identity trace, uint64_t offset) {
    for (uint32_t index = 0; index < count; index++) { fl_drain_commit_to(drains[index], trace, offset); }
}

bool fl_timeline_shorten(fl_timeline *timeline, uint64_t bytes, fl_drain *const *drains, uint32_t count) {
    fl_timeline_flush(timeline);
    selection selection = {.timeline = timeline, .copy = -1};
    uint64_t removed = timeline->removed;
    fl_identity identity;
    // A timeline that rests is held by a mapping of the old file.
    bool is_good = timeline->offset > bytes && bytes > 0 && timeline->lock == NULL;
    if (!is_good) { errno = EINVAL; }
    if (is_good) {
        selection.cut = line_at(timeline, timeline->offset - bytes);
        is_good = selection.cut > 2 && (selection.buffer = malloc(CHUNK_BYTES)) != NULL;
    }
    for (uint32_t index = 0; is_good && index < count; index++) {
        is_good = keep(&selection, fl_drain_process(drains[index]).process);
    }
    is_good = is_good && each_line(timeline, selection.cut, timeline->offset, &selection, select_line)
        && each_line(timeline, 2, selection.cut, &selection, count_removed);
    if (is_good) {
        fl_quiet quiet;
        fl_quiet_begin(&quiet);
        // Locked before anybody can take it for a finished trace.
        is_good = open_copy(&selection) && flock(selection.copy, LOCK_EX | LOCK_NB) == 0 && write_copy(&selection)
            && fl_identify(selection.copy, &identity);
        if (is_good) {
            // Whichever file has the name if this process is killed now, one of the last two commits is for that one.
            commit(drains, count, identity, selection.written);
            is_good = replace(&selection);
        }
        fl_quiet_end(&quiet);
    }
    int failure = errno;
    if (is_good) {
        close(timeline->descriptor);
        timeline->descriptor = selection.copy;
        timeline->identity = identity;
        timeline->offset = selection.written;
        for (uint32_t index = 0; index < count; index++) {
            fl_drain_begin(drains[index], identity, timeline->path, fl_drain_process(drains[index]).process);
        }
    } else {
        timeline->removed = removed;
        commit(drains, count, timeline->identity, timeline->offset);
        if (selection.name != NULL && selection.copy >= 0) { unlink(selection.name); }
        if (selection.copy >= 0) { close(selection.copy); }
    }
    free(selection.name);
    free(selection.buffer);
    free(selection.processes);
    errno = failure;
    return is_good;
}
