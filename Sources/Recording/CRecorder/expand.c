#include "expand.h"
#include "layout.h"

#include <string.h>

// The contents of a record after its header.
typedef struct contents {
    bool has_statement;
    fl_statement_time time;
    fl_sql statement;
} contents;

// Fills in the record's own event; false if the record is damaged.
static bool unpack(fl_event *event, contents *contents, const fl_header *record, uint64_t origin) {
    const fl_event_schema *schema = fl_schema(record->kind);
    if (schema == NULL || record->size < sizeof *record + schema->size) { return false; }
    event->header = *record;
    event->header.flags &= (uint8_t)~FL_HAS_STATEMENT;
    event->header.start = fl_since(record->start, origin);
    memset(&event->fields, 0, sizeof event->fields);
    const char *place = (const char *)(record + 1), *end = (const char *)record + record->size;
    memcpy(&event->fields, place, schema->size);
    place += ((size_t)schema->size + 7) & ~(size_t)7;
    contents->has_statement = (record->flags & FL_HAS_STATEMENT) != 0;
    if (contents->has_statement) {
        if (place + sizeof contents->time + sizeof contents->statement > end) { return false; }
        memcpy(&contents->time, place, sizeof contents->time);
        memcpy(&contents->statement, place + sizeof contents->time, sizeof contents->statement);
        place += sizeof contents->time + sizeof contents->statement;
    }
    event->listWords = place < end ? (uint32_t)((size_t)(end - place) / sizeof(uint64_t)) : 0;
    if (event->listWords > FL_MAXIMUM_LIST_WORDS) { event->listWords = FL_MAXIMUM_LIST_WORDS; }
    memcpy(event->lists, place, event->listWords * sizeof(uint64_t));
    if (record->kind == FL_EVENT_USE) {
        fl_use *use = &event->fields.use;
        use->firstUse = fl_since(use->firstUse, origin);
        use->lastUse = fl_since(use->lastUse, origin);
    }
    return true;
}

// Turns the event into one derived from it.
static void draw(fl_event *event, fl_event_kind kind, uint64_t id, uint64_t start, uint64_t duration) {
    event->header.kind = (uint8_t)kind;
    event->header.parent = event->header.id;
    event->header.id = id;
    event->header.start = start;
    // Each part is assigned a wait in proportion to its duration.
    double share = event->header.duration == 0 ? 0 : (double)duration / (double)event->header.duration;
    event->header.runDelay = share >= 1 ? event->header.runDelay : (uint64_t)((double)event->header.runDelay * share);
    event->header.duration = duration;
    event->header.overhead = 0;
    event->listWords = 0;
    memset(&event->fields, 0, sizeof event->fields);
}

uint32_t fl_events_of(fl_event_kind kind, const void *fields, bool has_statement) {
    const fl_fault *fault = fields;
    return 1 + (kind == FL_EVENT_FAULT && fault->source != 0) + has_statement;
}

uint32_t fl_expand(
    fl_event *event, const fl_header *record, uint64_t origin, fl_take_event *take, void *context
) {
    contents contents;
    if (!unpack(event, &contents, record, origin)) { return 0; }
    uint32_t count = 1;
    take(context, event);
    if (record->kind == FL_EVENT_FAULT && event->fields.fault.source != 0) {
        fl_cache_miss miss = {
            .fault = event->header.id, .entity = event->fields.fault.entity,
            .seenBefore = event->fields.fault.seenBefore,
        };
        uint64_t duration = event->header.duration < 2 ? 0 : event->header.duration - 2;
        draw(event, FL_EVENT_CACHE_MISS, record->id + 1, event->header.start + 1, duration);
        event->fields.cacheMiss = miss;
        count++;
        take(context, event);
    }
    if (!contents.has_statement) { return count; }
    uint64_t start = event->header.start, duration = event->header.duration;
    uint64_t begins = fl_since(contents.time.start, origin), ends = begins + contents.time.duration;
    uint64_t latest = start + duration - (duration > 0);
    if (begins <= start) { begins = start + 1; }
    if (ends > latest) { ends = latest; }
    draw(event, FL_EVENT_SQL, record->id + 2, begins, ends > begins ? ends - begins : 0);
    event->fields.sql = contents.statement;
    take(context, event);
    return count + 1;
}
