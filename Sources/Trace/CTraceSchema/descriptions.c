// The descriptions in the declarations. Separate from the tables, so that a program that prints none does not link them.

#include "faultline_schema.h"

static const fl_description nothing = {"", "", ""};

// The descriptions of one kind, in the order of its fields and lists.
typedef struct description_table {
    const fl_description *texts;
    uint32_t count;
} description_table;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TABLE(array) {array, COUNT(array)}

static fl_description at(const description_table *tables, uint32_t count, uint32_t table, uint32_t place) {
    return table < count && place < tables[table].count ? tables[table].texts[place] : nothing;
}

// MARK: - Kinds

static const fl_description kinds[] = {
    {"", "", ""},
#define X(symbol, name, structure, type, title, presence, lists, text) {#type, #structure, text},
    FL_EVENT_KINDS(X)
#undef X
};

fl_description fl_describe_kind(uint32_t kind) { return kind < COUNT(kinds) ? kinds[kind] : nothing; }

static const fl_presentation presentations[] = {
#define X(symbol, track, style, colour, role, weight) {track, style, colour, weight, FL_EVENT_##symbol, role},
    FL_PRESENTATIONS(X)
#undef X
};

_Static_assert(COUNT(presentations) == COUNT(kinds) - 1, "FL_PRESENTATIONS must have a line for each kind");

const fl_presentation *fl_presentations(uint32_t *count) {
    *count = COUNT(presentations);
    return presentations;
}

#define FIELD(structure, type, name, meaning, detail, text) {"", "", text},
static const fl_description common_fields[] = {FL_COMMON_FIELDS(FIELD, )};
#define X(symbol, name, ...) static const fl_description name##_fields[] = {FL_##symbol##_FIELDS(FIELD, )};
FL_EVENT_KINDS(X)
#undef X

static const description_table fields[] = {
    TABLE(common_fields),
#define X(symbol, name, ...) TABLE(name##_fields),
    FL_EVENT_KINDS(X)
#undef X
};

fl_description fl_describe_field(uint32_t kind, uint32_t place) { return at(fields, COUNT(fields), kind, place); }

// MARK: - Lists

#define LIST(structure, name, entry, text) {"", "", text},
#define X(symbol, name, ...) static const fl_description name##_lists[] = {FL_##symbol##_LISTS(LIST, )};
FL_EVENT_KINDS(X)
#undef X

static const description_table lists[] = {
    {0, 0},
#define X(symbol, name, ...) TABLE(name##_lists),
    FL_EVENT_KINDS(X)
#undef X
};

fl_description fl_describe_list(uint32_t kind, uint32_t place) { return at(lists, COUNT(lists), kind, place); }

static const fl_description entries[] = {
#define X(symbol, type, words, text) {#type, "", text},
    FL_ENTRIES(X)
#undef X
};

fl_description fl_describe_entry(uint32_t entry) { return entry < COUNT(entries) ? entries[entry] : nothing; }

#define WORD(structure, name, meaning, detail, text) {"", "", text},
#define X(symbol, type, words, ...) static const fl_description symbol##_words[] = {words(WORD, )};
FL_ENTRIES(X)
#undef X

static const description_table words[] = {
#define X(symbol, ...) TABLE(symbol##_words),
    FL_ENTRIES(X)
#undef X
};

fl_description fl_describe_word(uint32_t entry, uint32_t place) { return at(words, COUNT(words), entry, place); }

// MARK: - Enumerations

static const fl_description enumerations[] = {
#define X(symbol, type, values, text) {#type, "", text},
    FL_ENUMERATIONS(X)
#undef X
};

fl_description fl_describe_enumeration(uint32_t enumeration) {
    return enumeration < COUNT(enumerations) ? enumerations[enumeration] : nothing;
}

#define VALUE(word, text) {"", "", text},
#define X(symbol, type, values, ...) static const fl_description symbol##_values[] = {values(VALUE)};
FL_ENUMERATIONS(X)
#undef X

static const description_table values[] = {
#define X(symbol, ...) TABLE(symbol##_values),
    FL_ENUMERATIONS(X)
#undef X
};

fl_description fl_describe_value(uint32_t enumeration, uint32_t value) {
    return at(values, COUNT(values), enumeration, value);
}
