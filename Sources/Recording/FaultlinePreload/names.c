#define _GNU_SOURCE
#include "preload.h"

#include <string.h>

// Whether a word that stands in double quotation marks is the name of a table or a column. SQLite is asked, because it takes
// other words for texts, which can be private.

#define NAME_BYTES 128

// Words that were names once, by their hashes. Others are asked for again.
static preload_table known_names;

static bool has_column(const preload_asking *asking, const char *table, const char *column) {
    return asking->copy->table_column_metadata(
        asking->connection, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

// Views have columns, too.
static bool view_has_column(const preload_asking *asking, const char *view, const char *column) {
    const preload_copy *copy = asking->copy;
    sqlite3_stmt *question = NULL;
    if (!asking->may_query || copy->bind_text == NULL || copy->prepare_v2 == NULL) { return false; }
    int result = copy->prepare_v2(
        asking->connection, "SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE", -1, &question, NULL);
    if (result != SQLITE_OK) { return false; }
    copy->bind_text(question, 1, view, -1, SQLITE_STATIC);
    copy->bind_text(question, 2, column, -1, SQLITE_STATIC);
    bool found = copy->step(question) == SQLITE_ROW;
    copy->finalize(question);
    return found;
}

// A word that can be the name of a table, without its quotation marks. False if it is too long.
static bool copy_name(char name[NAME_BYTES], const char *word, size_t length) {
    bool is_quoted = length >= 2 && strchr("\"`[", *word) != NULL;
    if (is_quoted) {
        word++;
        length -= 2;
    }
    if (length == 0 || length >= NAME_BYTES || memchr(word, '"', length) != NULL) { return false; }
    memcpy(name, word, length);
    name[length] = 0;
    return true;
}

typedef struct search {
    const preload_asking *asking;
    const char *column;
    bool found;
} search;

// Tries one of the statement's tables.
static bool try_table(void *context, const char *word, size_t length) {
    search *search = context;
    char table[NAME_BYTES];
    if (copy_name(table, word, length)) {
        search->found = has_column(search->asking, table, search->column)
            || view_has_column(search->asking, table, search->column);
    }
    return !search->found;
}

bool preload_has_name(void *context, const char *word, size_t length) {
    const preload_asking *asking = context;
    uint64_t key = preload_hash_word(word, length), value;
    char name[NAME_BYTES];
    if (preload_look_up(&known_names, key, &value)) { return true; }
    bool may_ask = asking->connection != NULL && asking->copy->table_column_metadata != NULL;
    if (!may_ask || !copy_name(name, word, length)) { return false; }
    search search = {.asking = asking, .column = name, .found = has_column(asking, name, NULL)};
    if (!search.found) { preload_each_table(asking->sql, asking->length, try_table, &search); }
    if (search.found) { preload_keep(&known_names, key, 1); }
    return search.found;
}
