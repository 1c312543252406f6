// The schema of a trace as records and tables, generated from the declarations in faultline_events.h.

#ifndef FAULTLINE_SCHEMA_H
#define FAULTLINE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faultline_events.h"

#ifdef __cplusplus
extern "C" {
#endif

// The version in a trace's first line. Incremented when a reader of the old version would misread the trace.
#define FL_TRACE_VERSION 1

// Linux process IDs are below this number. Its multiples distinguish processes of a trace that have the same ID.
#define FL_PROCESS_NUMBERS (1u << 22)

// No recorded number except a hash comes near this one. A larger number means damage and would overflow sums.
static const uint64_t fl_largest_number = (uint64_t)1 << 53;

typedef enum __attribute__((enum_extensibility(closed))) fl_event_kind {
    FL_EVENT_NONE = 0,
#define X(symbol, ...) FL_EVENT_##symbol,
    FL_EVENT_KINDS(X)
#undef X
    FL_EVENT_KIND_END
} fl_event_kind;

typedef enum __attribute__((enum_extensibility(closed))) fl_dictionary_kind {
    FL_DICTIONARY_NONE = 0,
#define X(symbol, name) FL_DICTIONARY_##symbol,
    FL_DICTIONARY_KINDS(X)
#undef X
    FL_DICTIONARY_KIND_END
} fl_dictionary_kind;

typedef enum fl_enumeration {
#define X(symbol, ...) FL_ENUMERATION_##symbol,
    FL_ENUMERATIONS(X)
#undef X
    FL_ENUMERATION_END
} fl_enumeration;

typedef enum fl_entry_kind {
#define X(symbol, ...) FL_ENTRY_##symbol,
    FL_ENTRIES(X)
#undef X
    FL_ENTRY_KIND_END
} fl_entry_kind;

// MARK: - Records

#define FL_MEMBER(structure, type, name, ...) type name;

// The header of every record in a ring.
typedef struct fl_header {
    uint16_t size;     // bytes of the record, including this header and its lists; a multiple of 8
    uint8_t kind;      // fl_event_kind; 0: filler up to the ring's end
    uint8_t flags;     // FL_HAS_STATEMENT, FL_ON_MAIN_THREAD
    uint32_t thread;   // the kernel's thread id
    FL_COMMON_FIELDS(FL_MEMBER, )
} fl_header;

#define FL_HAS_STATEMENT 1   // an fl_sql and its fl_statement_time follow the event's own fields
#define FL_ON_MAIN_THREAD 2
#define FL_STACK_TRUNCATED 4

#define X(symbol, name, structure, ...) typedef struct structure { FL_##symbol##_FIELDS(FL_MEMBER, ) } structure;
FL_EVENT_KINDS(X)
#undef X

// The time of a statement that is embedded in another event's record.
typedef struct fl_statement_time {
    uint64_t start;
    uint64_t duration;
} fl_statement_time;

// The longest list part of any event, in 64-bit words.
#define FL_MAXIMUM_LIST_WORDS 512

// One event, read from a ring or a trace: its header, its fields, its lists.
typedef struct fl_event {
    fl_header header;
    union {
#define X(symbol, name, structure, ...) structure name;
        FL_EVENT_KINDS(X)
#undef X
    } fields;
    uint32_t listWords;
    uint32_t process;
    uint64_t lists[FL_MAXIMUM_LIST_WORDS];
} fl_event;

#undef FL_MEMBER

// MARK: - Tables

// The room for the longest key. Copying that many bytes, whatever the key's length, needs no call.
#define FL_KEY_BYTES 32

typedef struct fl_field {
    const char *name;
    char key[FL_KEY_BYTES];  // the name as a key in JSON, with its quotes and the colon
    uint32_t keyLength;      // bytes of the key
    uint16_t offset;   // from the start of the event's own fields (common fields: from the header's start)
    uint8_t width;     // 4 or 8 bytes
    uint8_t meaning;   // fl_field_meaning
    uint32_t detail;
} fl_field;

typedef struct fl_list {
    const char *name;
    uint16_t countOffset;  // the offset of the list's length in the event's own fields
    uint16_t words;        // 64-bit words per entry
    uint32_t entry;        // fl_entry_kind
} fl_list;

// The layout of one kind of event.
typedef struct fl_event_schema {
    const char *name;
    const fl_field *fields;
    const fl_list *lists;
    uint16_t fieldCount;
    uint16_t listCount;
    uint16_t size;         // bytes of the event's own fields
    uint16_t titleEnd;     // one more than the offset of the field in the event's title; 0: none
    bool isInstant;        // it takes no time on its thread
} fl_event_schema;

// The schema of a kind; null for FL_EVENT_NONE and for unknown kinds.
const fl_event_schema *fl_schema(uint32_t kind);

// The fields that every event has; sets `count` to their number.
const fl_field *fl_common_fields(uint32_t *count);

// The words of a list's entry; sets `count` to their number. Their offsets and widths are those of consecutive 64-bit
// words.
const fl_field *fl_entry_words(uint32_t entry, uint32_t *count);

// A number that differs between schemas whose records do, so that records are read only as they were written.
uint32_t fl_schema_layout(void);

// The same for one kind, added to the number of those before it.
uint32_t fl_record_layout(const fl_event_schema *schema, uint32_t before);

// The kind with that name, or FL_EVENT_NONE.
fl_event_kind fl_event_kind_named(const char *name, size_t length);

// The name of a dictionary kind, or null.
const char *fl_dictionary_name(uint32_t kind);

// The dictionary kind with that name, or FL_DICTIONARY_NONE.
fl_dictionary_kind fl_dictionary_kind_named(const char *name, size_t length);

// The word for a value of an enumeration, or null if it has none.
const char *fl_enumeration_word(uint32_t enumeration, uint64_t value);

// The value of a word of an enumeration, or -1.
int64_t fl_enumeration_value(uint32_t enumeration, const char *word, size_t length);

// A field's number, widened to 64 bits. The field's offset is relative to `base`.
static inline uint64_t fl_field_get(const fl_field *field, const void *base) {
    const char *place = (const char *)base + field->offset;
    return field->width == 8 ? *(const uint64_t *)(const void *)place : *(const uint32_t *)(const void *)place;
}

// Stores a number in 8 or 4 bytes; a number that is too large is stored as the largest one that fits.
static inline void fl_number_set(void *place, uint8_t width, uint64_t value) {
    if (width == 8) {
        *(uint64_t *)place = value;
    } else {
        *(uint32_t *)place = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
    }
}

// Sets a field's number. A value that does not fit in 32 bits is clamped to their maximum.
static inline void fl_field_set(const fl_field *field, void *base, uint64_t value) {
    fl_number_set((char *)base + field->offset, field->width, value);
}

// Whether the field is the length of the list with its name.
static inline bool fl_counts_list(const fl_event_schema *schema, const fl_field *field) {
    for (uint32_t index = 0; index < schema->listCount; index++) {
        if (schema->lists[index].countOffset == field->offset) { return true; }
    }
    return false;
}

// The field in the title of the kind's events, or null.
static inline const fl_field *fl_title_field(const fl_event_schema *schema) {
    for (uint32_t index = 0; index < schema->fieldCount; index++) {
        if (schema->fields[index].offset + 1u == schema->titleEnd) { return &schema->fields[index]; }
    }
    return NULL;
}

// Where an event's own fields begin.
static inline const void *fl_event_fields(const fl_event *event) { return &event->fields; }
static inline void *fl_event_fields_mutable(fl_event *event) { return &event->fields; }

// MARK: - Descriptions

// The descriptions of kinds, fields, lists, entries, enumerations and words, and the names of the Swift types. They are
// linked into a program only if it uses one.

typedef struct fl_description {
    const char *type;        // of kinds, entries and enumerations: the Swift type
    const char *structure;   // of kinds: the C structure
    const char *text;        // empty for the length of a list
} fl_description;

fl_description fl_describe_kind(uint32_t kind);

// The role of a kind's events in a program.
typedef enum fl_role { FL_WORK, FL_MARK, FL_SAMPLE } fl_role;

// How events of a kind are shown; see FL_PRESENTATIONS.
typedef struct fl_presentation {
    const char *track, *style, *colour, *weight;
    fl_event_kind kind;
    fl_role role;
} fl_presentation;

// The presentations of all kinds, in the order of a timeline's tracks; sets `count` to their number.
const fl_presentation *fl_presentations(uint32_t *count);
// The description of one of a kind's own fields, by its index. With FL_EVENT_NONE, of a common field.
fl_description fl_describe_field(uint32_t kind, uint32_t place);
fl_description fl_describe_list(uint32_t kind, uint32_t place);
fl_description fl_describe_entry(uint32_t entry);
fl_description fl_describe_word(uint32_t entry, uint32_t place);
fl_description fl_describe_enumeration(uint32_t enumeration);
fl_description fl_describe_value(uint32_t enumeration, uint32_t value);

#ifdef __cplusplus
}
#endif

#endif
