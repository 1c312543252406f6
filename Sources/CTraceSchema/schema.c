#include "faultline_schema.h"

#include <string.h>

// MARK: - Field tables, made from the lists in the header

#define X(type, field, meaning, detail) {#field, offsetof(fl_header, field), sizeof(type), meaning, detail},
static const fl_field common_fields[] = {FL_COMMON_FIELDS(X)};
#undef X

#define X(type, field, meaning, detail) {#field, offsetof(FL_STRUCT, field), sizeof(type), meaning, detail},
#define FL_STRUCT fl_fetch
static const fl_field fetch_fields[] = {FL_FETCH_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_batch
static const fl_field batch_fields[] = {FL_BATCH_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_fault
static const fl_field fault_fields[] = {FL_FAULT_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_cache_miss
static const fl_field cache_miss_fields[] = {FL_CACHE_MISS_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_save
static const fl_field save_fields[] = {FL_SAVE_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_sql
static const fl_field sql_fields[] = {FL_SQL_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_use
static const fl_field use_fields[] = {FL_USE_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_scope
static const fl_field scope_fields[] = {FL_SCOPE_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_merge
static const fl_field merge_fields[] = {FL_MERGE_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_refresh
static const fl_field refresh_fields[] = {FL_REFRESH_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_wait
static const fl_field wait_fields[] = {FL_WAIT_FIELDS(X)};
#undef FL_STRUCT
#define FL_STRUCT fl_release
static const fl_field release_fields[] = {FL_RELEASE_FIELDS(X)};
#undef FL_STRUCT
#undef X

#define X(event, list, words) {#list, offsetof(fl_##event, list), words},
static const fl_list fetch_lists[] = {FL_FETCH_LISTS(X)};
static const fl_list batch_lists[] = {FL_BATCH_LISTS(X)};
static const fl_list save_lists[] = {FL_SAVE_LISTS(X)};
static const fl_list use_lists[] = {FL_USE_LISTS(X)};
static const fl_list merge_lists[] = {FL_MERGE_LISTS(X)};
#undef X

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SCHEMA(name, lower) {name, lower##_fields, NULL, COUNT(lower##_fields), 0, sizeof(fl_##lower)}
#define SCHEMA_WITH_LISTS(name, lower) \
    {name, lower##_fields, lower##_lists, COUNT(lower##_fields), COUNT(lower##_lists), sizeof(fl_##lower)}

static const fl_event_schema schemas[] = {
    {NULL, NULL, NULL, 0, 0, 0},
    [FL_EVENT_FETCH] = SCHEMA_WITH_LISTS("fetch", fetch),
    [FL_EVENT_BATCH] = SCHEMA_WITH_LISTS("batch", batch),
    [FL_EVENT_FAULT] = SCHEMA("fault", fault),
    [FL_EVENT_CACHE_MISS] = SCHEMA("cacheMiss", cache_miss),
    [FL_EVENT_SAVE] = SCHEMA_WITH_LISTS("save", save),
    [FL_EVENT_SQL] = SCHEMA("sql", sql),
    [FL_EVENT_USE] = SCHEMA_WITH_LISTS("use", use),
    [FL_EVENT_SCOPE] = SCHEMA("scope", scope),
    [FL_EVENT_MERGE] = SCHEMA_WITH_LISTS("merge", merge),
    [FL_EVENT_REFRESH] = SCHEMA("refresh", refresh),
    [FL_EVENT_WAIT] = SCHEMA("wait", wait),
    [FL_EVENT_RELEASE] = SCHEMA("release", release),
};

_Static_assert(COUNT(schemas) == FL_EVENT_KIND_END, "every event kind has a schema");

const fl_event_schema *fl_schema(uint32_t kind) {
    return kind > FL_EVENT_NONE && kind < FL_EVENT_KIND_END ? &schemas[kind] : NULL;
}

const fl_field *fl_common_fields(uint32_t *count) {
    *count = COUNT(common_fields);
    return common_fields;
}

// MARK: - Words

static int is_word(const char *word, const char *text, size_t length) {
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

#define X(word) word,
static const char *const result_types[] = {FL_RESULT_TYPES(X) NULL};
static const char *const fault_types[] = {FL_FAULT_TYPES(X) NULL};
static const char *const fault_sources[] = {FL_FAULT_SOURCES(X) NULL};
static const char *const statement_types[] = {FL_STATEMENT_TYPES(X) NULL};
static const char *const scope_kinds[] = {FL_SCOPE_KINDS(X) NULL};
static const char *const scope_phases[] = {FL_SCOPE_PHASES(X) NULL};
static const char *const use_states[] = {FL_USE_STATES(X) NULL};
static const char *const merge_triggers[] = {FL_MERGE_TRIGGERS(X) NULL};
static const char *const wait_resources[] = {FL_WAIT_RESOURCES(X) NULL};
#undef X

static const char *const *const enumerations[] = {
    [FL_ENUMERATION_RESULT_TYPE] = result_types,
    [FL_ENUMERATION_FAULT_TYPE] = fault_types,
    [FL_ENUMERATION_FAULT_SOURCE] = fault_sources,
    [FL_ENUMERATION_STATEMENT_TYPE] = statement_types,
    [FL_ENUMERATION_SCOPE_KIND] = scope_kinds,
    [FL_ENUMERATION_SCOPE_PHASE] = scope_phases,
    [FL_ENUMERATION_USE_STATE] = use_states,
    [FL_ENUMERATION_MERGE_TRIGGER] = merge_triggers,
    [FL_ENUMERATION_WAIT_RESOURCE] = wait_resources,
};

const char *fl_enumeration_word(uint32_t enumeration, uint64_t value) {
    if (enumeration >= COUNT(enumerations)) { return NULL; }
    const char *const *words = enumerations[enumeration];
    for (uint64_t index = 0; words[index] != NULL; index++) {
        if (index == value) { return words[index]; }
    }
    return NULL;
}

int64_t fl_enumeration_value(uint32_t enumeration, const char *word, size_t length) {
    if (enumeration >= COUNT(enumerations)) { return -1; }
    const char *const *words = enumerations[enumeration];
    for (int64_t index = 0; words[index] != NULL; index++) {
        if (is_word(words[index], word, length)) { return index; }
    }
    return -1;
}
