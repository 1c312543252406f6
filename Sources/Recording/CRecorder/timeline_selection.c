#define _GNU_SOURCE
#include "faultline_text.h"
#include "timeline_selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The bytes that are read at a time; a line is never longer.
#define CHUNK_BYTES (4 * FL_LINE_BYTES)

// The bytes that are read between two drains. A full ring drops events, and copying a long trace takes a while.
#define DRAIN_BYTES (4u << 20)

typedef bool take_line(fl_selection *selection, const char *line, size_t length);

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

static uint32_t process_of(const char *line, size_t length) { return (uint32_t)number(line, length, ",\"pid\":"); }

static bool is_about_names(const char *line, size_t length) {
    const char *phase = after(line, length, ",\"ph\":\"");
    return phase != NULL && *phase == 'M';
}

static bool begins_process(const char *line, size_t length) {
    static const char beginning[] = "{\"name\":\"faultline.began\"";
    return length > sizeof beginning && memcmp(line, beginning, sizeof beginning - 1) == 0
        && is_about_names(line, length);
}

static void drain(fl_selection *selection) {
    for (uint32_t index = 0; index < selection->drain_count; index++) {
        selection->drained += fl_timeline_drain(selection->timeline, selection->drains[index]);
    }
}

// Passes every complete line between two offsets, with its line feed. False with errno set.
static bool each_line(fl_selection *selection, uint64_t start, uint64_t end, take_line *take) {
    char *chunk = malloc(CHUNK_BYTES);
    bool is_good = chunk != NULL;
    uint64_t next_drain = start + DRAIN_BYTES;
    while (is_good && start < end) {
        size_t wanted = end - start < CHUNK_BYTES ? (size_t)(end - start) : CHUNK_BYTES;
        ssize_t length = pread(selection->timeline->descriptor, chunk, wanted, (off_t)start);
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
        if (is_good && selection->is_draining && start >= next_drain) {
            drain(selection);
            next_drain = start + DRAIN_BYTES;
        }
    }
    int failure = errno;
    free(chunk);
    errno = failure;
    return is_good;
}

// The offset of the first line that begins at `offset` or later; 0 if there is none.
static uint64_t line_at(const fl_timeline *timeline, uint64_t offset) {
    char *text = malloc(CHUNK_BYTES);
    ssize_t length = text == NULL ? -1 : pread(timeline->descriptor, text, CHUNK_BYTES, (off_t)offset);
    const char *end = length > 0 ? memchr(text, '\n', (size_t)length) : NULL;
    uint64_t line = end == NULL ? 0 : offset + (uint64_t)(end + 1 - text);
    free(text);
    return line;
}

// MARK: - The processes

// The index of a process in the list, or of the first one after it.
static uint32_t place_of(const fl_selection *selection, uint32_t process) {
    uint32_t low = 0, high = selection->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (selection->processes[middle] < process) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool keeps(const fl_selection *selection, uint32_t process) {
    uint32_t place = place_of(selection, process);
    return place < selection->count && selection->processes[place] == process;
}

static bool keep(fl_selection *selection, uint32_t process) {
    if (keeps(selection, process)) { return true; }
    if (selection->count == selection->room) {
        uint32_t room = selection->room == 0 ? 64 : 2 * selection->room;
        uint32_t *processes = realloc(selection->processes, room * sizeof *processes);
        if (processes == NULL) { return false; }
        (selection->processes = processes, selection->room = room);
    }
    uint32_t *place = selection->processes + place_of(selection, process);
    memmove(place + 1, place, (size_t)(selection->processes + selection->count - place) * sizeof *place);
    *place = process;
    selection->count++;
    return true;
}

static bool select_line(fl_selection *selection, const char *line, size_t length) {
    if (!selection->has_begun && !is_about_names(line, length)) {
        selection->has_begun = true;
        selection->from = number(line, length, ",\"ts\":") + number(line, length, ",\"dur\":");
    }
    return keep(selection, process_of(line, length));
}

static bool count_removed(fl_selection *selection, const char *line, size_t length) {
    bool is_event = !is_about_names(line, length) && after(line, length, ",\"cat\":\"flow\",") == NULL;
    if (is_event) { selection->timeline->removed++; }
    return true;
}

// MARK: - The copy

static bool flush(fl_selection *selection) {
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

static char *room_for(fl_selection *selection, size_t length) {
    if (selection->used + length > CHUNK_BYTES && !flush(selection)) { return NULL; }
    return selection->buffer + selection->used;
}

static bool copy_unchanged(fl_selection *selection, const char *line, size_t length) {
    char *out = room_for(selection, length);
    if (out == NULL) { return false; }
    memcpy(out, line, length);
    selection->used += length;
    return true;
}

// The first line of a process that began before the cut states the cut as its beginning. The first one of the file also
// states the number of removed events.
static bool copy_beginning(fl_selection *selection, const char *line, size_t length) {
    static const char start_key[] = "\"start\":", date_key[] = ",\"date\":", program_key[] = ",\"program\":";
    const char *start = after(line, length, start_key), *date = after(line, length, date_key);
    const char *program = after(line, length, program_key);
    if (start == NULL || date == NULL || program == NULL) { return copy_unchanged(selection, line, length); }
    char *out = room_for(selection, length + 128);
    if (out == NULL) { return false; }
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

static bool copy_line(fl_selection *selection, const char *line, size_t length) {
    return begins_process(line, length) ? copy_beginning(selection, line, length)
                                        : copy_unchanged(selection, line, length);
}

static bool copy_name(fl_selection *selection, const char *line, size_t length) {
    bool is_needed = is_about_names(line, length) && keeps(selection, process_of(line, length));
    return !is_needed || copy_line(selection, line, length);
}

// Copies the lines from the cut on, and those that the drains add meanwhile. The last ones are copied without draining:
// those that remain after a round that did not halve them, or that are few.
static bool copy_events(fl_selection *selection) {
    uint64_t done = selection->cut, before = UINT64_MAX;
    do {
        uint64_t left = selection->timeline->offset - done;
        selection->is_draining = left > DRAIN_BYTES && left < before / 2;
        if (!each_line(selection, done, done + left, copy_line)) { return false; }
        done += left;
        before = left;
    } while (selection->is_draining);
    return true;
}

bool fl_selection_write(fl_selection *selection, uint64_t bytes) {
    const fl_timeline *timeline = selection->timeline;
    selection->cut = timeline->offset > bytes && bytes > 0 ? line_at(timeline, timeline->offset - bytes) : 0;
    if (selection->cut <= 2) {
        errno = EINVAL;
        return false;
    }
    selection->buffer = malloc(CHUNK_BYTES);
    if (selection->buffer == NULL) { return false; }
    for (uint32_t index = 0; index < selection->drain_count; index++) {
        if (!keep(selection, fl_drain_process(selection->drains[index]).process)) { return false; }
    }
    selection->is_draining = true;
    return each_line(selection, selection->cut, timeline->offset, select_line)
        && each_line(selection, 2, selection->cut, count_removed) && copy_unchanged(selection, "[\n", 2)
        && each_line(selection, 2, selection->cut, copy_name) && copy_events(selection) && flush(selection);
}

void fl_selection_free(fl_selection *selection) {
    free(selection->buffer);
    free(selection->processes);
}
