// The schema of a trace: every event kind with its fields, said once.
//
// From these lists come the record in the ring, the keys in the JSON timeline and the tables that
// readers use to fill an event from either. A field is added here and nowhere else; the Swift vocabulary
// (FaultlineTrace) is tested against the tables field by field.

#ifndef FAULTLINE_SCHEMA_H
#define FAULTLINE_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version that a trace states in its first line. Raised when a reader of the old version would misread.
#define FL_TRACE_VERSION 1

// Linux numbers processes below this. Where two of one number are in a trace, they are told apart by multiples of it.
#define FL_PROCESS_NUMBERS (1u << 22)

// MARK: - Event kinds

// X(symbol, name in the trace)
#define FL_EVENT_KINDS(X) \
    X(FETCH, "fetch")     \
    X(BATCH, "batch")     \
    X(FAULT, "fault")     \
    X(CACHE_MISS, "cacheMiss") \
    X(SAVE, "save")       \
    X(SQL, "sql")         \
    X(USE, "use")         \
    X(SCOPE, "scope")     \
    X(MERGE, "merge")     \
    X(REFRESH, "refresh") \
    X(WAIT, "wait")       \
    X(RELEASE, "release")

typedef enum __attribute__((enum_extensibility(closed))) fl_event_kind {
    FL_EVENT_NONE = 0,
#define X(symbol, name) FL_EVENT_##symbol,
    FL_EVENT_KINDS(X)
#undef X
    FL_EVENT_KIND_END
} fl_event_kind;

// What the dictionary holds: written once, then referred to by id.
#define FL_DICTIONARY_KINDS(X) \
    X(ENTITY, "entity")        \
    X(SHAPE, "shape")          \
    X(STATEMENT, "statement")  \
    X(PLAN, "plan")            \
    X(SITE, "site")            \
    X(STACK, "stack")          \
    X(MODULE, "module")        \
    X(FRAME, "frame")          \
    X(NAME, "name")            \
    X(CONTEXT, "context")      \
    X(THREAD, "thread")        \
    X(DESTINATION_USE, "destinationUse") \
    X(CALIBRATION, "calibration")

typedef enum __attribute__((enum_extensibility(closed))) fl_dictionary_kind {
    FL_DICTIONARY_NONE = 0,
#define X(symbol, name) FL_DICTIONARY_##symbol,
    FL_DICTIONARY_KINDS(X)
#undef X
    FL_DICTIONARY_KIND_END
} fl_dictionary_kind;

// MARK: - Fields

// What a field's number means, and so how it is written.
typedef enum __attribute__((enum_extensibility(closed))) fl_field_meaning {
    FL_COUNT,        // a number of things
    FL_BYTES,        // a number of bytes
    FL_NANOSECONDS,  // a time
    FL_EVENT_ID,     // another event of the same process; 0: none
    FL_REFERENCE,    // a dictionary entry; 0: none. `detail` is its fl_dictionary_kind
    FL_HASH,         // a keyed hash, written as a string of 16 hexadecimal digits
    FL_ENUMERATION,  // one of a few words; `detail` is an fl_enumeration
    FL_FLAG,         // 0 or 1, written as false or true
    FL_CODE,         // a number with a meaning of its own (an SQLite result code)
} fl_field_meaning;

#define FL_RESULT_TYPES(X) X("objects") X("objectIDs") X("count") X("dictionaries")
#define FL_FAULT_TYPES(X) X("object") X("toOne") X("toMany")
#define FL_FAULT_SOURCES(X) X("rowCache") X("store") X("gone")
#define FL_STATEMENT_TYPES(X) X("read") X("write") X("transaction") X("schema")
#define FL_SCOPE_KINDS(X) X("other") X("screen") X("request") X("bulk") X("test") X("setup")
#define FL_SCOPE_PHASES(X) X("begin") X("end")
#define FL_USE_STATES(X) X("closed") X("open")
#define FL_MERGE_TRIGGERS(X) X("call") X("automatic") X("remote")
#define FL_WAIT_RESOURCES(X) X("contextQueue") X("coordinator") X("connection") X("sqlite")

typedef enum fl_enumeration {
    FL_ENUMERATION_RESULT_TYPE,
    FL_ENUMERATION_FAULT_TYPE,
    FL_ENUMERATION_FAULT_SOURCE,
    FL_ENUMERATION_STATEMENT_TYPE,
    FL_ENUMERATION_SCOPE_KIND,
    FL_ENUMERATION_SCOPE_PHASE,
    FL_ENUMERATION_USE_STATE,
    FL_ENUMERATION_MERGE_TRIGGER,
    FL_ENUMERATION_WAIT_RESOURCE,
} fl_enumeration;

// X(C type, name, meaning, detail). Wide fields first, so that a record has no holes but at its end.

// What every event carries. `size`, `kind` and `thread` are the record's own (see fl_header).
#define FL_COMMON_FIELDS(X)                      \
    X(uint64_t, id, FL_EVENT_ID, 0)              \
    X(uint64_t, parent, FL_EVENT_ID, 0)          \
    X(uint64_t, scope, FL_EVENT_ID, 0)           \
    X(uint64_t, start, FL_NANOSECONDS, 0)        \
    X(uint64_t, duration, FL_NANOSECONDS, 0)     \
    X(uint64_t, runDelay, FL_NANOSECONDS, 0)     \
    X(uint32_t, context, FL_REFERENCE, FL_DICTIONARY_CONTEXT) \
    X(uint32_t, site, FL_REFERENCE, FL_DICTIONARY_SITE)       \
    X(uint32_t, stack, FL_REFERENCE, FL_DICTIONARY_STACK)     \
    X(uint32_t, overhead, FL_NANOSECONDS, 0)

#define FL_FETCH_FIELDS(X)                       \
    X(uint64_t, parameters, FL_HASH, 0)          \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint64_t, prefetchedBytes, FL_BYTES, 0)    \
    X(uint64_t, wait, FL_NANOSECONDS, 0)         \
    X(uint64_t, prepare, FL_NANOSECONDS, 0)      \
    X(uint64_t, step, FL_NANOSECONDS, 0)         \
    X(uint64_t, materialise, FL_NANOSECONDS, 0)  \
    X(uint64_t, pending, FL_NANOSECONDS, 0)      \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE)   \
    X(uint32_t, values, FL_REFERENCE, FL_DICTIONARY_NAME)   \
    X(uint32_t, limit, FL_COUNT, 0)              \
    X(uint32_t, offset, FL_COUNT, 0)             \
    X(uint32_t, batchSize, FL_COUNT, 0)          \
    X(uint32_t, resultType, FL_ENUMERATION, FL_ENUMERATION_RESULT_TYPE) \
    X(uint32_t, rows, FL_COUNT, 0)               \
    X(uint32_t, trips, FL_COUNT, 0)              \
    X(uint32_t, prefetchedRows, FL_COUNT, 0)     \
    X(uint32_t, cacheHits, FL_COUNT, 0)          \
    X(uint32_t, cacheMisses, FL_COUNT, 0)        \
    X(uint32_t, pendingObjects, FL_COUNT, 0)     \
    X(uint32_t, error, FL_CODE, 0)               \
    X(uint32_t, operands, FL_COUNT, 0)           \
    X(uint32_t, prefetches, FL_COUNT, 0)

#define FL_BATCH_FIELDS(X)                       \
    X(uint64_t, fetch, FL_EVENT_ID, 0)           \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint64_t, prefetchedBytes, FL_BYTES, 0)    \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE)   \
    X(uint32_t, firstIndex, FL_COUNT, 0)         \
    X(uint32_t, rows, FL_COUNT, 0)               \
    X(uint32_t, trips, FL_COUNT, 0)              \
    X(uint32_t, prefetchedRows, FL_COUNT, 0)     \
    X(uint32_t, cacheHits, FL_COUNT, 0)          \
    X(uint32_t, error, FL_CODE, 0)               \
    X(uint32_t, prefetches, FL_COUNT, 0)

#define FL_FAULT_FIELDS(X)                       \
    X(uint64_t, object, FL_HASH, 0)              \
    X(uint64_t, origin, FL_EVENT_ID, 0)          \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint32_t, type, FL_ENUMERATION, FL_ENUMERATION_FAULT_TYPE)     \
    X(uint32_t, source, FL_ENUMERATION, FL_ENUMERATION_FAULT_SOURCE) \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY)          \
    X(uint32_t, relationship, FL_REFERENCE, FL_DICTIONARY_NAME)      \
    X(uint32_t, relationshipEntity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, filled, FL_COUNT, 0)             \
    X(uint32_t, seenBefore, FL_FLAG, 0)          \
    X(uint32_t, error, FL_CODE, 0)               \
    X(uint32_t, isWatched, FL_FLAG, 0)           \
    X(uint32_t, isDeleting, FL_FLAG, 0)

#define FL_CACHE_MISS_FIELDS(X)                  \
    X(uint64_t, fault, FL_EVENT_ID, 0)           \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, seenBefore, FL_FLAG, 0)

#define FL_SAVE_FIELDS(X)                        \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint64_t, lockWait, FL_NANOSECONDS, 0)     \
    X(uint64_t, commit, FL_NANOSECONDS, 0)       \
    X(uint32_t, inserted, FL_COUNT, 0)           \
    X(uint32_t, updated, FL_COUNT, 0)            \
    X(uint32_t, deleted, FL_COUNT, 0)            \
    X(uint32_t, changedColumns, FL_COUNT, 0)     \
    X(uint32_t, conflicts, FL_COUNT, 0)          \
    X(uint32_t, trips, FL_COUNT, 0)              \
    X(uint32_t, error, FL_CODE, 0)               \
    X(uint32_t, entities, FL_COUNT, 0)           \
    X(uint32_t, unchanged, FL_COUNT, 0)          \
    X(uint32_t, unread, FL_COUNT, 0)

#define FL_SQL_FIELDS(X)                         \
    X(uint64_t, virtualMachineSteps, FL_COUNT, 0) \
    X(uint32_t, statement, FL_REFERENCE, FL_DICTIONARY_STATEMENT) \
    X(uint32_t, plan, FL_REFERENCE, FL_DICTIONARY_PLAN)           \
    X(uint32_t, type, FL_ENUMERATION, FL_ENUMERATION_STATEMENT_TYPE) \
    X(uint32_t, rows, FL_COUNT, 0)               \
    X(uint32_t, fullScanSteps, FL_COUNT, 0)      \
    X(uint32_t, sorts, FL_COUNT, 0)              \
    X(uint32_t, automaticIndexes, FL_COUNT, 0)   \
    X(uint32_t, preparations, FL_COUNT, 0)       \
    X(uint32_t, pageHits, FL_COUNT, 0)           \
    X(uint32_t, pageMisses, FL_COUNT, 0)         \
    X(uint32_t, error, FL_CODE, 0)               \
    X(uint32_t, textComparisons, FL_COUNT, 0)    \
    X(uint32_t, textMatches, FL_COUNT, 0)

#define FL_USE_FIELDS(X)                         \
    X(uint64_t, fetch, FL_EVENT_ID, 0)           \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint64_t, firstUse, FL_NANOSECONDS, 0)     \
    X(uint64_t, lastUse, FL_NANOSECONDS, 0)      \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE)   \
    X(uint32_t, state, FL_ENUMERATION, FL_ENUMERATION_USE_STATE) \
    X(uint32_t, batchSize, FL_COUNT, 0)          \
    X(uint32_t, rows, FL_COUNT, 0)               \
    X(uint32_t, loadedRows, FL_COUNT, 0)         \
    X(uint32_t, touchedRows, FL_COUNT, 0)        \
    X(uint32_t, touches, FL_COUNT, 0)            \
    X(uint32_t, batchesLoaded, FL_COUNT, 0)      \
    X(uint32_t, countAsked, FL_COUNT, 0)         \
    X(uint32_t, emptinessAsked, FL_COUNT, 0)     \
    X(uint32_t, identitiesAsked, FL_COUNT, 0)    \
    X(uint32_t, modifiedRows, FL_COUNT, 0)       \
    X(uint32_t, runs, FL_COUNT, 0)               \
    X(uint32_t, windows, FL_COUNT, 0)            \
    X(uint32_t, properties, FL_COUNT, 0)         \
    X(uint32_t, runsLost, FL_COUNT, 0)

#define FL_SCOPE_FIELDS(X)                       \
    X(uint32_t, name, FL_REFERENCE, FL_DICTIONARY_NAME) \
    X(uint32_t, kind, FL_ENUMERATION, FL_ENUMERATION_SCOPE_KIND) \
    X(uint32_t, phase, FL_ENUMERATION, FL_ENUMERATION_SCOPE_PHASE)

#define FL_MERGE_FIELDS(X)                       \
    X(uint32_t, trigger, FL_ENUMERATION, FL_ENUMERATION_MERGE_TRIGGER) \
    X(uint32_t, saver, FL_REFERENCE, FL_DICTIONARY_CONTEXT) \
    X(uint32_t, inserted, FL_COUNT, 0)           \
    X(uint32_t, updated, FL_COUNT, 0)            \
    X(uint32_t, deleted, FL_COUNT, 0)            \
    X(uint32_t, refreshed, FL_COUNT, 0)          \
    X(uint32_t, conflicts, FL_COUNT, 0)          \
    X(uint32_t, entities, FL_COUNT, 0)

#define FL_REFRESH_FIELDS(X)                     \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY) \
    X(uint32_t, objects, FL_COUNT, 0)            \
    X(uint32_t, changed, FL_COUNT, 0)            \
    X(uint32_t, keepsChanges, FL_FLAG, 0)

#define FL_WAIT_FIELDS(X)                        \
    X(uint32_t, resource, FL_ENUMERATION, FL_ENUMERATION_WAIT_RESOURCE) \
    X(uint32_t, isBlocking, FL_FLAG, 0)          \
    X(uint32_t, holder, FL_REFERENCE, FL_DICTIONARY_CONTEXT) \
    X(uint32_t, holderSite, FL_REFERENCE, FL_DICTIONARY_SITE) \
    X(uint32_t, holderThread, FL_CODE, 0)        \
    X(uint32_t, holderProcess, FL_CODE, 0)       \
    X(uint32_t, tries, FL_COUNT, 0)              \
    X(uint32_t, error, FL_CODE, 0)

#define FL_RELEASE_FIELDS(X)                     \
    X(uint64_t, fetch, FL_EVENT_ID, 0)           \
    X(uint64_t, fault, FL_EVENT_ID, 0)           \
    X(uint64_t, object, FL_HASH, 0)              \
    X(uint64_t, bytes, FL_BYTES, 0)              \
    X(uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY)

// No number of a recording but a hash comes near this one. What is larger is damage, and would overflow sums.
static const uint64_t fl_largest_number = (uint64_t)1 << 53;

// MARK: - Lists that follow an event

// A list is a run of fixed-width entries of 64-bit words behind the event's fields; its length stands in the
// field of the same name. X(event, name, words an entry, the JSON key)
//
// fetch.operands:   a keyed hash of the values of one term of the shape, cut to what a JSON number holds exactly
// fetch.prefetches: place among the shape's key paths, trips, rows, bytes, nanoseconds
// batch.prefetches: the same
// save.entities:    entity, inserted, updated, deleted
// save.unread:      fetch, deleted, updated, properties (a bit each), a keyed hash of what these were set to, cut likewise
// merge.entities:   entity, inserted, updated, deleted of the save that was merged
// use.runs:         first row, rows                      rows that were touched one after the other
// use.windows:      scope kind + 1 (0: by pauses), rows, how often     what one screenful touched
// use.properties:   property's index in its entity, rows read, rows loaded, bytes, rows of at least 16 KiB
#define FL_FETCH_LISTS(X) X(fetch, operands, 1) X(fetch, prefetches, 5)
#define FL_BATCH_LISTS(X) X(batch, prefetches, 5)
#define FL_SAVE_LISTS(X) X(save, entities, 4) X(save, unread, 5)
#define FL_MERGE_LISTS(X) X(merge, entities, 4)
#define FL_USE_LISTS(X) X(use, runs, 2) X(use, windows, 3) X(use, properties, 5)

// The terms of a shape whose values are told apart; of a longer predicate one more hash stands for all the others.
#define FL_FETCH_OPERANDS 32

// The fetches of which a save tells what it wrote of them unread, and the properties of an entity that it can name there.
#define FL_UNREAD_FETCHES 32
#define FL_UNREAD_PROPERTIES 52

// The key paths of which it is told what prefetching them took.
#define FL_PREFETCHES 32

// A value of this many bytes counts as large: SQLite keeps a row of more than a page in overflow pages.
#define FL_LARGE_VALUE 16384

// MARK: - Records

// What stands before every record in a ring.
typedef struct fl_header {
    uint16_t size;     // bytes of the record, this header and its lists included; a multiple of 8
    uint8_t kind;      // fl_event_kind; 0: filler up to the ring's end
    uint8_t flags;     // FL_HAS_STATEMENT, FL_ON_MAIN_THREAD
    uint32_t thread;   // the kernel's thread id
#define X(type, name, meaning, detail) type name;
    FL_COMMON_FIELDS(X)
#undef X
} fl_header;

#define FL_HAS_STATEMENT 1   // an fl_sql and its fl_statement_time stand behind the event's own fields
#define FL_ON_MAIN_THREAD 2
#define FL_STACK_TRUNCATED 4

#define X(type, name, meaning, detail) type name;
typedef struct fl_fetch { FL_FETCH_FIELDS(X) } fl_fetch;
typedef struct fl_batch { FL_BATCH_FIELDS(X) } fl_batch;
typedef struct fl_fault { FL_FAULT_FIELDS(X) } fl_fault;
typedef struct fl_cache_miss { FL_CACHE_MISS_FIELDS(X) } fl_cache_miss;
typedef struct fl_save { FL_SAVE_FIELDS(X) } fl_save;
typedef struct fl_sql { FL_SQL_FIELDS(X) } fl_sql;
typedef struct fl_use { FL_USE_FIELDS(X) } fl_use;
typedef struct fl_scope { FL_SCOPE_FIELDS(X) } fl_scope;
typedef struct fl_merge { FL_MERGE_FIELDS(X) } fl_merge;
typedef struct fl_refresh { FL_REFRESH_FIELDS(X) } fl_refresh;
typedef struct fl_wait { FL_WAIT_FIELDS(X) } fl_wait;
typedef struct fl_release { FL_RELEASE_FIELDS(X) } fl_release;
#undef X

// When the statement that travels inside another event's record ran.
typedef struct fl_statement_time {
    uint64_t start;
    uint64_t duration;
} fl_statement_time;

// The longest list part of any event, in 64-bit words.
#define FL_MAXIMUM_LIST_WORDS 512

// One event, taken out of a ring or read from a trace: its header, its fields, its lists.
typedef struct fl_event {
    fl_header header;
    union {
        fl_fetch fetch;
        fl_batch batch;
        fl_fault fault;
        fl_cache_miss cacheMiss;
        fl_save save;
        fl_sql sql;
        fl_use use;
        fl_scope scope;
        fl_merge merge;
        fl_refresh refresh;
        fl_wait wait;
        fl_release release;
    } fields;
    uint32_t listWords;
    uint32_t process;
    uint64_t lists[FL_MAXIMUM_LIST_WORDS];
} fl_event;

// MARK: - Tables

typedef struct fl_field {
    const char *name;
    uint16_t offset;   // from the start of the event's own fields (common fields: from the header's start)
    uint8_t width;     // 4 or 8 bytes
    uint8_t meaning;   // fl_field_meaning
    uint32_t detail;
} fl_field;

typedef struct fl_list {
    const char *name;
    uint16_t countOffset;  // where the list's length stands among the event's own fields
    uint16_t words;        // 64-bit words an entry
} fl_list;

// What one kind of event is made of.
typedef struct fl_event_schema {
    const char *name;
    const fl_field *fields;
    const fl_list *lists;
    uint16_t fieldCount;
    uint16_t listCount;
    uint16_t size;         // bytes of the event's own fields
} fl_event_schema;

// The schema of a kind; null for FL_EVENT_NONE and for numbers that are no kind.
const fl_event_schema *fl_schema(uint32_t kind);

// The fields that every event carries, `count` of them.
const fl_field *fl_common_fields(uint32_t *count);

// The kind of that name, or FL_EVENT_NONE.
fl_event_kind fl_event_kind_named(const char *name, size_t length);

// The name of a dictionary kind, or null.
const char *fl_dictionary_name(uint32_t kind);

// The dictionary kind of that name, or FL_DICTIONARY_NONE.
fl_dictionary_kind fl_dictionary_kind_named(const char *name, size_t length);

// The word for a value of an enumeration, or null if it has none.
const char *fl_enumeration_word(uint32_t enumeration, uint64_t value);

// The value behind a word of an enumeration, or -1.
int64_t fl_enumeration_value(uint32_t enumeration, const char *word, size_t length);

// A field's number, widened to 64 bits. `base` is where the field's offset counts from.
static inline uint64_t fl_field_get(const fl_field *field, const void *base) {
    const char *place = (const char *)base + field->offset;
    return field->width == 8 ? *(const uint64_t *)(const void *)place : *(const uint32_t *)(const void *)place;
}

// Puts a number where one of 8 or 4 bytes belongs; the largest that fits, if it is larger.
static inline void fl_number_set(void *place, uint8_t width, uint64_t value) {
    if (width == 8) {
        *(uint64_t *)place = value;
    } else {
        *(uint32_t *)place = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    }
}

// Sets a field's number. A value that does not fit 32 bits is held at their maximum.
static inline void fl_field_set(const fl_field *field, void *base, uint64_t value) {
    fl_number_set((char *)base + field->offset, field->width, value);
}

// Where an event's own fields begin.
static inline const void *fl_event_fields(const fl_event *event) { return &event->fields; }
static inline void *fl_event_fields_mutable(fl_event *event) { return &event->fields; }

#ifdef __cplusplus
}
#endif

#endif
