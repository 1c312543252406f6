#define _GNU_SOURCE
#include "faultline_text.h"
#include "timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Chrome's JSON Trace Event format in array form, one event per line: viewers accept the file even if the program was
// killed and the closing bracket is missing.

// The length cut off the end of a trace on a full disk, to make room for the lines that report it.
#define RESERVE_BYTES (8u << 10)

// MARK: - Lines

// Whether an entry's text fits a line. A damaged file of rings can contain anything.
static bool fits_a_line(const char *text, size_t length) {
    for (size_t place = 0; place < length; place++) {
        if ((unsigned char)text[place] < 0x20) { return false; }
    }
    return length + 256 <= FL_LINE_BYTES;
}

static char *begin_line(fl_timeline *timeline) {
    if (timeline->used + FL_LINE_BYTES > FL_TIMELINE_BUFFER) { fl_timeline_flush(timeline); }
    return timeline->buffer + timeline->used;
}

static void end_line(fl_timeline *timeline, char *end) {
    *end++ = ',';
    *end++ = '\n';
    timeline->used = (size_t)(end - timeline->buffer);
}

// Nanoseconds as microseconds with three decimals, which the format requires and which loses nothing.
static char *put_microseconds(char *out, uint64_t nanoseconds) {
    out = fl_put_number(out, nanoseconds / 1000);
    uint64_t rest = nanoseconds % 1000;
    *out++ = '.';
    *out++ = (char)('0' + rest / 100);
    *out++ = (char)('0' + rest / 10 % 10);
    *out++ = (char)('0' + rest % 10);
    return out;
}

// MARK: - Dictionary

static char *label_of(const fl_timeline *timeline, uint32_t id) {
    const fl_process_names *names = timeline->names;
    return names != NULL && id < names->count ? names->labels[id] : NULL;
}

// Moves the names of a process to the front.
static void select_process(fl_timeline *timeline, uint32_t process) {
    timeline->process = process;
    fl_process_names **place = &timeline->names;
    while (*place != NULL && (*place)->process != process) { place = &(*place)->next; }
    fl_process_names *names = *place;
    if (names == NULL) {
        names = calloc(1, sizeof *names);
        if (names == NULL) { return; }
        names->process = process;
    } else {
        *place = names->next;
    }
    names->next = timeline->names;
    timeline->names = names;
}

void fl_timeline_forget_names(fl_timeline *timeline, uint32_t process) {
    fl_process_names **place = &timeline->names;
    while (*place != NULL && (*place)->process != process) { place = &(*place)->next; }
    fl_process_names *names = *place;
    if (names == NULL) { return; }
    *place = names->next;
    for (uint32_t id = 0; id < names->count; id++) { free(names->labels[id]); }
    free(names->labels);
    free(names);
}

static void remember_label(fl_timeline *timeline, uint32_t id, const char *label, size_t length) {
    fl_process_names *names = timeline->names;
    if (length == 0 || names == NULL || id >= FL_INTERNED_MAXIMUM * 2) { return; }
    if (id >= names->count) {
        uint32_t count = id + 256;
        char **labels = realloc(names->labels, count * sizeof *labels);
        if (labels == NULL) { return; }
        memset(labels + names->count, 0, (count - names->count) * sizeof *labels);
        names->labels = labels;
        names->count = count;
    }
    // Stored as JSON, without the quotes.
    char quoted[600];
    size_t used = fl_json_string(quoted, sizeof quoted, label, length);
    free(names->labels[id]);
    names->labels[id] = strndup(quoted + 1, used - 2);
}

static void write_entry(
    void *context, uint32_t kind, uint32_t id, const char *text, size_t length, const char *label, size_t label_length
) {
    fl_timeline *timeline = context;
    const char *name = fl_dictionary_name(kind);
    if (name == NULL) { return; }
    if (kind == FL_DICTIONARY_STACK ? length / 8 * 22 + 256 > FL_LINE_BYTES : !fits_a_line(text, length)) {
        timeline->unwritten++;
        // Not a problem of the file.
        if (timeline->error == 0) { timeline->error = EBADMSG; }
        return;
    }
    char *out = begin_line(timeline);
    out += sprintf(
        out, "{\"name\":\"faultline.%s\",\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"args\":{\"id\":%u,\"entry\":", name,
        timeline->process, id);
    if (kind == FL_DICTIONARY_STACK) {
        out = fl_put_text(out, "{\"frames\":[");
        for (size_t place = 0; place + 8 <= length; place += 8) {
            uint64_t address;
            memcpy(&address, text + place, 8);
            if (place > 0) { *out++ = ','; }
            out = fl_put_text(out, "\"0x");
            out = fl_put_hexadecimal(out, address, 1);
            *out++ = '"';
        }
        out = fl_put_text(out, label_length > 0 ? "],\"isTruncated\":true}" : "]}");
    } else {
        memcpy(out, text, length);
        out += length;
        remember_label(timeline, id, label, label_length);
    }
    out = fl_put_text(out, "}}");
    end_line(timeline, out);
    if (kind == FL_DICTIONARY_THREAD) {
        // The viewers' own line, which names the thread's track. The thread's number is the last in the entry's JSON.
        const char *number = memmem(text, length, "\"thread\":", 9);
        out = begin_line(timeline);
        out += sprintf(
            out, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%lu,\"args\":{\"name\":", timeline->process,
            number == NULL ? 0 : strtoul(number + 9, NULL, 10));
        out += fl_json_string(out, 300, label, label_length);
        out = fl_put_text(out, "}}");
        end_line(timeline, out);
    }
}

// MARK: - Events

static char *put_value(char *out, const fl_field *field, uint64_t value) {
    const char *word;
    switch (field->meaning) {
    case FL_HASH:
        *out++ = '"';
        out = fl_put_hexadecimal(out, value, 16);
        *out++ = '"';
        return out;
    case FL_ENUMERATION:
        word = fl_enumeration_word(field->detail, value);
        *out++ = '"';
        out = fl_put_text(out, word == NULL ? "" : word);
        *out++ = '"';
        return out;
    case FL_FLAG: return fl_put_text(out, value != 0 ? "true" : "false");
    default: return fl_put_number(out, value);
    }
}

static char *put_field(char *out, const fl_field *field, uint64_t value) {
    memcpy(out, field->key, sizeof field->key);
    out = put_value(out + field->keyLength, field, value);
    *out++ = ',';
    return out;
}

static char *put_lists(char *out, const fl_event_schema *schema, const fl_event *event) {
    const char *base = (const char *)&event->fields;
    uint32_t place = 0;
    for (uint32_t index = 0; index < schema->listCount; index++) {
        const fl_list *list = &schema->lists[index];
        uint32_t count;
        memcpy(&count, base + list->countOffset, sizeof count);
        *out++ = '"';
        out = fl_put_text(out, list->name);
        out = fl_put_text(out, "\":[");
        for (uint32_t entry = 0; entry < count && place + list->words <= event->listWords; entry++) {
            if (entry > 0) { *out++ = ','; }
            *out++ = '[';
            for (uint32_t word = 0; word < list->words; word++) {
                if (word > 0) { *out++ = ','; }
                out = fl_put_number(out, event->lists[place++]);
            }
            *out++ = ']';
        }
        out = fl_put_text(out, "],");
    }
    return out;
}

// The subject of an event's title; null if it has none.
static const char *subject(const fl_timeline *timeline, const fl_event_schema *schema, const fl_event *event) {
    const fl_field *field = fl_title_field(schema);
    if (field == NULL) { return NULL; }
    uint64_t value = fl_field_get(field, fl_event_fields(event));
    if (field->meaning == FL_ENUMERATION) { return fl_enumeration_word(field->detail, value); }
    return label_of(timeline, (uint32_t)value);
}

// Whether the event took up no time of its thread: a wait that blocked no thread ended while the thread had other
// work.
static bool is_instant(const fl_event_schema *schema, const fl_event *event) {
    return schema->isInstant || (event->header.kind == FL_EVENT_WAIT && event->fields.wait.isBlocking == 0);
}

static const char *phase(const fl_event_schema *schema, const fl_event *event) {
    if (event->header.kind == FL_EVENT_SCOPE) { return event->fields.scope.phase == 0 ? "b" : "e"; }
    // Viewers show the numbers of its arguments as a curve.
    if (event->header.kind == FL_EVENT_MEMORY) { return "C"; }
    return is_instant(schema, event) ? "i" : "X";
}

// An arrow from a fetch to the faults that it caused. It starts in the middle of the fetch and passes through the
// middle of each fault, since viewers round times and miss a slice at its edge.
static void write_flow(fl_timeline *timeline, const fl_event *event, char step, uint64_t id) {
    char *out = begin_line(timeline);
    out = fl_put_text(out, "{\"name\":\"origin\",\"cat\":\"flow\",\"ph\":\"");
    *out++ = step;
    out = fl_put_text(out, "\",\"id\":");
    out = fl_put_number(out, id);
    out = fl_put_text(out, ",\"bp\":\"e\",\"ts\":");
    out = put_microseconds(out, event->header.start + event->header.duration / 2);
    out = fl_put_text(out, ",\"pid\":");
    out = fl_put_number(out, event->process);
    out = fl_put_text(out, ",\"tid\":");
    out = fl_put_number(out, event->header.thread);
    *out++ = '}';
    end_line(timeline, out);
}

static void write_event(void *context, const fl_event *event) {
    fl_timeline *timeline = context;
    const fl_event_schema *schema = fl_schema(event->header.kind);
    bool is_scope = event->header.kind == FL_EVENT_SCOPE, is_instantaneous = is_instant(schema, event);
    uint64_t shown = event->header.start;
    // Instant events and ends of scopes are shown at their end.
    if (is_instantaneous || (is_scope && event->fields.scope.phase == 1)) { shown += event->header.duration; }

    char *out = begin_line(timeline);
    out = fl_put_text(out, "{\"name\":\"");
    const char *about = subject(timeline, schema, event);
    if (!is_scope || about == NULL) {
        out = fl_put_text(out, schema->name);
        if (about != NULL) { *out++ = ' '; }
    }
    if (about != NULL) { out = fl_put_text(out, about); }
    out = fl_put_text(out, "\",\"cat\":\"");
    out = fl_put_text(out, schema->name);
    out = fl_put_text(out, "\",\"ph\":\"");
    out = fl_put_text(out, phase(schema, event));
    if (is_scope) {
        // A local ID belongs to its process. Perfetto shows others in a group "Global Legacy Events".
        out = fl_put_text(out, "\",\"id2\":{\"local\":\"0x");
        out = fl_put_hexadecimal(out, event->header.id, 1);
        out = fl_put_text(out, "\"},\"ts\":");
    } else {
        out = fl_put_text(out, is_instantaneous ? "\",\"s\":\"t\",\"ts\":" : "\",\"ts\":");
    }
    out = put_microseconds(out, shown);
    if (!is_scope && !is_instantaneous) {
        out = fl_put_text(out, ",\"dur\":");
        out = put_microseconds(out, event->header.duration);
    }
    out = fl_put_text(out, ",\"pid\":");
    out = fl_put_number(out, event->process);
    out = fl_put_text(out, ",\"tid\":");
    out = fl_put_number(out, event->header.thread);
    out = fl_put_text(out, ",\"args\":{");
    uint32_t count;
    const fl_field *fields = fl_common_fields(&count);
    for (uint32_t index = 0; index < count; index++) {
        uint64_t value = fl_field_get(&fields[index], &event->header);
        if (value == 0) { continue; }
        size_t place = fields[index].offset;
        if (place == offsetof(fl_header, start)) { continue; }
        if (place == offsetof(fl_header, duration) && !is_scope && !is_instantaneous) { continue; }
        out = put_field(out, &fields[index], value);
    }
    if ((event->header.flags & FL_ON_MAIN_THREAD) != 0) { out = fl_put_text(out, "\"main\":true,"); }
    for (uint32_t index = 0; index < schema->fieldCount; index++) {
        const fl_field *field = &schema->fields[index];
        uint64_t value = fl_field_get(field, &event->fields);
        // Enumeration values are written even if they are 0; lists imply their length.
        if (value == 0 && field->meaning != FL_ENUMERATION) { continue; }
        if (fl_counts_list(schema, field)) { continue; }
        out = put_field(out, field, value);
    }
    out = put_lists(out, schema, event);
    if (out[-1] == ',') { out--; }
    out = fl_put_text(out, "}}");
    end_line(timeline, out);

    if (event->header.kind == FL_EVENT_FETCH && event->fields.fetch.rows > 0) {
        write_flow(timeline, event, 's', event->header.id);
    } else if (event->header.kind == FL_EVENT_FAULT && event->fields.fault.source != 0
               && event->fields.fault.origin != 0) {
        write_flow(timeline, event, 't', event->fields.fault.origin);
    }
}

static void write_loss(void *context, uint32_t thread, uint64_t events) {
    fl_timeline *timeline = context;
    char *out = begin_line(timeline);
    out += sprintf(
        out,
        "{\"name\":\"faultline.lost\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":"
        "{\"process\":%u,\"thread\":%u,\"events\":%llu}}",
        timeline->process, thread, timeline->process, thread, (unsigned long long)events);
    end_line(timeline, out);
}

static fl_sink sink_of(fl_timeline *timeline) {
    return (fl_sink){.context = timeline, .entry = write_entry, .event = write_event, .lost = write_loss};
}

// MARK: - Processes

static bool has_begun(const fl_timeline *timeline, uint32_t number) {
    for (uint32_t index = 0; index < timeline->begun_count; index++) {
        if (timeline->begun[index] == number) { return true; }
    }
    return false;
}

// Assigns a process's number in the trace: its ID or, if that is taken, the next larger number that differs from it by
// a multiple of FL_PROCESS_NUMBERS.
static uint32_t name_process(fl_timeline *timeline, uint32_t process) {
    uint32_t number = process;
    while (has_begun(timeline, number) && number <= UINT32_MAX - FL_PROCESS_NUMBERS) { number += FL_PROCESS_NUMBERS; }
    // The list grows by doubling.
    uint32_t count = timeline->begun_count;
    if ((count & (count - 1)) == 0) {
        uint32_t *begun = realloc(timeline->begun, (count == 0 ? 1 : count * 2) * sizeof *begun);
        if (begun == NULL) { return number; }
        timeline->begun = begun;
    }
    timeline->begun[timeline->begun_count++] = number;
    return number;
}

// Writes the waiting lines, and notes in the file of rings that they are written or lost.
static void settle(fl_timeline *timeline, fl_drain *drain, uint64_t unwritten_before) {
    fl_timeline_flush(timeline);
    fl_drain_count_unwritten(drain, timeline->unwritten - unwritten_before);
    fl_timeline_note(timeline, drain);
}

// The data that the recording of a program's calls of SQLite lacks, as in TraceGap.ofStatements.
static char *put_gaps(char *out) {
    static const char *const gaps[] = {"operations", "exactTimes"};
    out = fl_put_text(out, ",\"source\":\"sqlite\",\"gaps\":[");
    for (size_t index = 0; index < sizeof gaps / sizeof *gaps; index++) {
        out += sprintf(out, "%s{\"kind\":\"%s\",\"remedy\":\"\"}", index == 0 ? "" : ",", gaps[index]);
    }
    return fl_put_text(out, "]");
}

void fl_timeline_begin_process(fl_timeline *timeline, fl_drain *drain, const char *rings) {
    fl_process process = fl_drain_process(drain);
    process.process = name_process(timeline, process.identifier);
    fl_drain_begin(drain, timeline->identity, timeline->path, process.process);
    uint64_t before = timeline->unwritten;
    select_process(timeline, process.process);
    char *out = begin_line(timeline);
    out += sprintf(
        out,
        "{\"name\":\"faultline.began\",\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"args\":"
        "{\"version\":%d,\"process\":%u,\"start\":%llu,\"date\":%.6f,\"program\":",
        process.process, FL_TRACE_VERSION, process.process, (unsigned long long)process.start, process.date);
    out += fl_json_string(out, 8 * FL_PROGRAM_BYTES, process.program, strlen(process.program));
    out = fl_put_text(out, ",\"rings\":");
    out += fl_json_string(out, 8 * FL_PROGRAM_BYTES, rings, strlen(rings));
    if (process.is_observed) { out = put_gaps(out); }
    out = fl_put_text(out, "}}");
    end_line(timeline, out);
    const char *name = strrchr(process.program, '/');
    name = name == NULL ? process.program : name + 1;
    out = begin_line(timeline);
    out += sprintf(
        out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"args\":{\"name\":", process.process);
    out += fl_json_string(out, 8 * FL_PROGRAM_BYTES, name, strlen(name));
    out = fl_put_text(out, "}}");
    end_line(timeline, out);
    settle(timeline, drain, before);
}

void fl_timeline_note(fl_timeline *timeline, fl_drain *drain) {
    if (!timeline->is_tentative) { fl_drain_commit(drain, timeline->offset); }
}

uint64_t fl_timeline_drain(fl_timeline *timeline, fl_drain *drain) {
    select_process(timeline, fl_drain_process(drain).process);
    fl_sink sink = sink_of(timeline);
    uint64_t before = timeline->unwritten;
    uint64_t events = fl_drain_run(drain, &sink);
    // Nothing new was written, so the last commit is still valid.
    if (timeline->used == 0 && events == 0) { return 0; }
    settle(timeline, drain, before);
    return events;
}

void fl_timeline_record_memory(fl_timeline *timeline, fl_drain *drain, uint64_t resident, uint64_t proportional) {
    fl_process process = fl_drain_process(drain);
    select_process(timeline, process.process);
    fl_event event = {
        .header = {.kind = FL_EVENT_MEMORY, .start = fl_drain_end(drain, fl_now()), .thread = process.identifier},
        .fields.memory = {.resident = resident, .proportional = proportional}, .process = process.process,
    };
    write_event(timeline, &event);
}

void fl_timeline_end_process(
    fl_timeline *timeline, fl_drain *drain, fl_process_end how, uint64_t end, uint64_t writing
) {
    select_process(timeline, fl_drain_process(drain).process);
    fl_sink sink = sink_of(timeline);
    uint64_t before = timeline->unwritten;
    fl_drain_run(drain, &sink);
    fl_drain_unfinished(drain, &sink);
    fl_timeline_flush(timeline);
    if (timeline->unwritten > 0 && timeline->error != EBADMSG && !timeline->is_tentative) { fl_timeline_make_room(timeline, RESERVE_BYTES); }
    fl_drain_count_unwritten(drain, timeline->unwritten - before);
    before = timeline->unwritten;
    fl_totals totals = fl_drain_totals(drain);
    char without_ring[128] = "", *out = begin_line(timeline);
    if (totals.without_ring > 0) {
        // Of a fixed set of short texts without characters that JSON escapes.
        const char *failure = totals.failure == 0 ? NULL : strerrordesc_np((int)totals.failure);
        snprintf(
            without_ring, sizeof without_ring, ",\"withoutRing\":%llu,\"ringFailure\":\"%s\"",
            (unsigned long long)totals.without_ring, failure == NULL ? "" : failure);
    }
    out += sprintf(
        out,
        "{\"name\":\"faultline.ended\",\"ph\":\"M\",\"pid\":%u,\"tid\":0,\"args\":{\"process\":%u,\"end\":%llu,"
        "\"events\":%llu,\"lost\":%llu,\"unwritten\":%llu,\"entriesLost\":%llu,\"usesLost\":%llu,\"writing\":%llu,"
        "\"isClosed\":%s%s%s}}",
        timeline->process, timeline->process, (unsigned long long)fl_drain_end(drain, end),
        (unsigned long long)totals.events, (unsigned long long)totals.lost, (unsigned long long)totals.unwritten,
        (unsigned long long)totals.entries_lost, (unsigned long long)totals.uses_lost, (unsigned long long)writing,
        how == FL_PROCESS_CLOSED ? "true" : "false", how == FL_PROCESS_RUNS_ON ? ",\"isRunning\":true" : "",
        without_ring);
    end_line(timeline, out);
    fl_drain_end_process(drain);
    settle(timeline, drain, before);
    fl_timeline_forget_names(timeline, timeline->process);
}
