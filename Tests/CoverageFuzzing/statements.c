// Feeds the code that strips SQL of its values with texts, and checks that no literal is left.

#include "preload.h"

#include <stdlib.h>
#include <string.h>

// Stands in for SQLite's answer: about half of all words are names.
static bool has(void *context, const char *word, size_t length) {
    (void)context;
    return length > 0 && (word[length / 2] & 1) != 0;
}

static bool take(void *context, const char *word, size_t length) {
    *(size_t *)context += length > 0 && word[length - 1] != 0;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0 || size > 20000) { return 0; }
    // Memory of exactly this size, so that reading beyond its end is seen.
    char *sql = malloc(size), *json = malloc(600);
    char *text = malloc(PRELOAD_TEXT_MAXIMUM);
    memcpy(sql, bytes, size);
    const preload_names names = {.has = has};
    size_t length = preload_normalize(sql, size, (bytes[0] & 1) != 0 ? &names : NULL, text), words = 0;
    // Texts in single quotation marks are gone, unless a name in other marks contains one.
    bool is_quoted = memchr(sql, '"', size) != NULL || memchr(sql, '`', size) != NULL || memchr(sql, '[', size) != NULL;
    if (length > PRELOAD_TEXT_MAXIMUM || (!is_quoted && memchr(text, '\'', length) != NULL)) { abort(); }
    preload_type_of(text, length, true);
    preload_is_confidential(text, length);
    preload_is_plain_name(sql, size);
    preload_each_table(sql, size, take, &words);
    size_t used = fl_json_string(json, 600, sql, size);
    if (used < 2 || used > 600 || json[0] != '"' || json[used - 1] != '"') { abort(); }
    free(text);
    free(json);
    free(sql);
    return 0;
}
