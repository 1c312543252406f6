#include "faultline_schema.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// MARK: - Field tables

// A name as a key in JSON, and its length.
#define KEY(name) "\"" name "\":", sizeof("\"" name "\":") - 1

#define FIELD(structure, type, name, meaning, detail, ...) \
    {#name, KEY(#name), offsetof(structure, name), sizeof(type), meaning, detail},

static const fl_field common_fields[] = {FL_COMMON_FIELDS(FIELD, fl_header)};

#define X(symbol, name, structure, ...) \
    static const fl_field name##_fields[] = {FL_##symbol##_FIELDS(FIELD, structure)};
FL_EVENT_KINDS(X)
#undef X

// MARK: - List tables

// A structure of the words of each entry, to count them and to get their offsets.
#define WORD_MEMBER(structure, name, ...) uint64_t name;
#define X(symbol, type, words, ...) \
    typedef struct symbol##_entry { words(WORD_MEMBER, ) } symbol##_entry;
FL_ENTRIES(X)
#undef X

#define WORD(structure, name, meaning, detail, ...) \
    {#name, KEY(#name), offsetof(structure, name), sizeof(uint64_t), meaning, detail},
#define X(symbol, type, words, ...) \
    static const fl_field symbol##_words[] = {words(WORD, symbol##_entry)};
FL_ENTRIES(X)
#undef X

#define LIST(structure, name, entry, ...) \
    {#name, offsetof(structure, name), sizeof(entry##_entry) / sizeof(uint64_t), FL_ENTRY_##entry},
#define X(symbol, name, structure, ...) \
    static const fl_list name##_lists[] = {FL_##symbol##_LISTS(LIST, structure)};
FL_EVENT_KINDS(X)
#undef X

// MARK: - Schemas

#define FL_TITLE(structure, field) (offsetof(structure, field) + 1)
#define FL_NO_TITLE 0
#define FL_SPAN false
#define FL_INSTANT true

static const fl_event_schema schemas[] = {
    {NULL, NULL, NULL, 0, 0, 0, 0, false},
#define X(symbol, name, structure, type, title, presence, ...) \
    {#name, name##_fields, name##_lists, COUNT(name##_fields), COUNT(name##_lists), sizeof(structure), title, presence},
    FL_EVENT_KINDS(X)
#undef X
};

// Whether a kind has lists determines whether its tracepoint has a field for them.
#define FL_WITH_LISTS true
#define FL_WITHOUT_LISTS false
#define X(symbol, name, structure, type, title, presence, lists, ...) \
    _Static_assert((COUNT(name##_lists) > 0) == lists, "the kind " #name " declares correctly whether it has lists");
FL_EVENT_KINDS(X)
#undef X

const fl_event_schema *fl_schema(uint32_t kind) {
    return kind > FL_EVENT_NONE && kind < FL_EVENT_KIND_END ? &schemas[kind] : NULL;
}

const fl_field *fl_common_fields(uint32_t *count) {
    *count = COUNT(common_fields);
    return common_fields;
}

const fl_field *fl_entry_words(uint32_t entry, uint32_t *count) {
    switch (entry) {
#define X(symbol, ...) \
    case FL_ENTRY_##symbol: *count = COUNT(symbol##_words); return symbol##_words;
        FL_ENTRIES(X)
#undef X
    default: *count = 0; return NULL;
    }
}

// MARK: - Layout

// Adds fields to a hash (FNV-1a).
static uint32_t add_fields(uint32_t hash, const fl_field *fields, uint32_t count) {
    for (uint32_t index = 0; index < count; index++) {
        const fl_field *field = &fields[index];
        for (const char *letter = field->name; *letter != '\0'; letter++) { hash = (hash ^ (uint8_t)*letter) * 16777619u; }
        hash = (hash ^ (uint32_t)field->offset << 16 ^ (uint32_t)field->width << 8 ^ field->meaning) * 16777619u;
    }
    return hash;
}

uint32_t fl_record_layout(const fl_event_schema *schema, uint32_t before) {
    uint32_t hash = add_fields((before ^ schema->size) * 16777619u, schema->fields, schema->fieldCount);
    for (uint32_t index = 0; index < schema->listCount; index++) {
        uint32_t count;
        const fl_field *words = fl_entry_words(schema->lists[index].entry, &count);
        hash = add_fields((hash ^ schema->lists[index].countOffset) * 16777619u, words, count);
    }
    return hash;
}

uint32_t fl_schema_layout(void) {
    uint32_t hash = add_fields(2166136261u, common_fields, COUNT(common_fields));
    for (uint32_t kind = 1; kind < FL_EVENT_KIND_END; kind++) { hash = fl_record_layout(&schemas[kind], hash); }
    return hash;
}

// MARK: - Words

static bool is_word(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

fl_event_kind fl_event_kind_named(const char *name, size_t length) {
    for (uint32_t kind = 1; kind < FL_EVENT_KIND_END; kind++) {
        if (is_word(schemas[kind].name, name, length)) { return (fl_event_kind)kind; }
    }
    return FL_EVENT_NONE;
}

static const char *const dictionary_names[] = {
    NULL,
#define X(symbol, name) name,
    FL_DICTIONARY_KINDS(X)
#undef X
};

const char *fl_dictionary_name(uint32_t kind) {
    return kind < FL_DICTIONARY_KIND_END ? dictionary_names[kind] : NULL;
}

fl_dictionary_kind fl_dictionary_kind_named(const char *name, size_t length) {
    for (uint32_t kind = 1; kind < FL_DICTIONARY_KIND_END; kind++) {
        if (is_word(dictionary_names[kind], name, length)) { return (fl_dictionary_kind)kind; }
    }
    return FL_DICTIONARY_NONE;
}

#define VALUE(word, description) word,
#define X(symbol, type, words, ...) static const char *const symbol##_values[] = {words(VALUE) NULL};
FL_ENUMERATIONS(X)
#undef X

static const char *const *const enumerations[] = {
#define X(symbol, ...) symbol##_values,
    FL_ENUMERATIONS(X)
#undef X
};

const char *fl_enumeration_word(uint32_t enumeration, uint64_t value) {
    if (enumeration >= FL_ENUMERATION_END) { return NULL; }
    const char *const *words = enumerations[enumeration];
    for (uint64_t index = 0; words[index] != NULL; index++) {
        if (index == value) { return words[index]; }
    }
    return NULL;
}

int64_t fl_enumeration_value(uint32_t enumeration, const char *word, size_t length) {
    if (enumeration >= FL_ENUMERATION_END) { return -1; }
    const char *const *words = enumerations[enumeration];
    for (int64_t index = 0; words[index] != NULL; index++) {
        if (is_word(words[index], word, length)) { return index; }
    }
    return -1;
}
