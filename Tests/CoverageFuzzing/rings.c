// Feeds the drainer of rings with files that a killed or hostile program could have left: sound rings in which bytes were
// changed, or anything at all.

#include "recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[64], path[96];
static char *sound;
static size_t sound_size;

static void remove_files(void) {
    unlink(path);
    rmdir(directory);
}

// Keeps the bytes of the rings of a recorder with some events.
static void make_sound_rings(void) {
    strcpy(directory, "/dev/shm/faultline-fuzz-XXXXXX");
    if (mkdtemp(directory) == NULL) { abort(); }
    snprintf(path, sizeof path, "%s/faultline-1-1.rings", directory);
    atexit(remove_files);
    fl_recorder_options options = {.rings = path, .ring_bytes = FL_PAGE};
    fl_recorder *recorder = fl_recorder_create(&options);
    if (recorder == NULL) { abort(); }
    fl_recorder_enable(recorder);
    for (int index = 0; index < 8; index++) {
        fl_open open;
        fl_sql fields = {.rows = (uint32_t)index};
        char text[32];
        int length = snprintf(text, sizeof text, "{\"sql\":\"SELECT %d\"}", index);
        fields.statement = fl_intern(recorder, FL_DICTIONARY_STATEMENT, text, (size_t)length, "", 0);
        if (!fl_begin(recorder, &open)) { abort(); }
        const fl_ending ending = {0};
        fl_end(recorder, &open, FL_EVENT_SQL, &fields, &ending);
    }
    int file = open(path, O_RDONLY);
    sound_size = (size_t)lseek(file, 0, SEEK_END);
    sound = malloc(sound_size);
    if (pread(file, sound, sound_size, 0) != (ssize_t)sound_size) { abort(); }
    close(file);
    fl_recorder_close(recorder);
    fl_recorder_release(recorder);
    unlink(path);
}

static void take_entry(
    void *context, uint32_t kind, uint32_t id, const char *json, size_t json_length, const char *label, size_t label_length
) {
    (void)kind, (void)id;
    for (size_t index = 0; index < json_length; index++) { *(size_t *)context += (unsigned char)json[index]; }
    for (size_t index = 0; index < label_length; index++) { *(size_t *)context += (unsigned char)label[index]; }
}
static void take_event(void *context, const fl_event *event) { *(size_t *)context += event->header.start; }
static void take_loss(void *context, uint32_t thread, uint64_t events) { *(size_t *)context += thread + events; }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (sound == NULL) { make_sound_rings(); }
    if (size == 0) { return 0; }
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) { abort(); }
    if (bytes[0] == 0) {
        if (write(file, bytes + 1, size - 1) < 0) { abort(); }
    } else {
        // Each change takes the place, as three bytes, and the new byte; the places of the headers are short.
        if (write(file, sound, sound_size) != (ssize_t)sound_size) { abort(); }
        for (size_t at = 1; at + 4 <= size; at += 4) {
            size_t place = ((size_t)bytes[at] | (size_t)bytes[at + 1] << 8 | (size_t)bytes[at + 2] << 16) % sound_size;
            if (pwrite(file, &bytes[at + 3], 1, (off_t)place) != 1) { abort(); }
        }
    }
    close(file);
    fl_drain *drain = fl_drain_open(path, 0);
    if (drain == NULL) { return 0; }
    size_t sum = 0;
    fl_sink sink = {.context = &sum, .entry = take_entry, .event = take_event, .lost = take_loss};
    fl_process process = fl_drain_process(drain);
    sum += strlen(process.program) + strlen(process.trace) + fl_drain_pending(drain);
    fl_drain_run(drain, &sink);
    fl_drain_unfinished(drain, &sink);
    fl_drain_totals(drain);
    fl_drain_end(drain, 0);
    fl_drain_close(drain);
    return 0;
}
