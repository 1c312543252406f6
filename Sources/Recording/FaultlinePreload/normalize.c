#define _GNU_SOURCE
#include "preload.h"

#include <string.h>
#include <strings.h>

typedef struct writer {
    char *out;
    size_t used;
    bool is_spaced;  // white space or a comment came before the next token
    bool is_full;
} writer;

static bool is_space(unsigned char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
static bool is_digit(unsigned char byte) { return byte >= '0' && byte <= '9'; }

// Letters of any script, digits, `_` and `$`, as SQLite's tokenizer has it.
static bool continues_word(unsigned char byte) {
    return is_digit(byte) || (byte | 0x20) - 'a' < 26u || byte == '_' || byte == '$' || byte >= 0x80;
}

static bool ends_with(const writer *writer, const char *text) {
    size_t length = strlen(text);
    return writer->used >= length && memcmp(writer->out + writer->used - length, text, length) == 0;
}

static const char ellipsis[] = "\xE2\x80\xA6";

static void put(writer *writer, const char *bytes, size_t length) {
    size_t room = PRELOAD_TEXT_MAXIMUM - writer->used;
    if (writer->is_full) { return; }
    if (length + 1 + sizeof ellipsis > room) {
        writer->is_full = true;
        memcpy(writer->out + writer->used, ellipsis, sizeof ellipsis - 1);
        writer->used += sizeof ellipsis - 1;
        return;
    }
    bool is_tight = writer->used == 0 || writer->out[writer->used - 1] == '(' || *bytes == ')' || *bytes == ',';
    if (!is_tight && (writer->is_spaced || writer->out[writer->used - 1] == ',')) { writer->out[writer->used++] = ' '; }
    memcpy(writer->out + writer->used, bytes, length);
    writer->used += length;
}

// Writes a value: the second one of a list as an ellipsis, the others not at all.
static void put_value(writer *writer) {
    if (ends_with(writer, "(") && writer->used >= 4 && strncasecmp(writer->out + writer->used - 4, "in (", 4) == 0) {
        put(writer, ellipsis, sizeof ellipsis - 1);
    } else if (ends_with(writer, "?, \xE2\x80\xA6,") || ends_with(writer, "(\xE2\x80\xA6,")) {
        writer->used--;
    } else if (ends_with(writer, "?,")) {
        put(writer, ellipsis, sizeof ellipsis - 1);
    } else {
        put(writer, "?", 1);
    }
}

// After the closing parenthesis of a row of values: further rows like it are an ellipsis.
static void close_row(writer *writer) {
    static const char *const rows[] = {"(?)", "(?, \xE2\x80\xA6)"};
    for (size_t index = 0; index < 2; index++) {
        size_t length = strlen(rows[index]);
        if (!ends_with(writer, rows[index])) { continue; }
        size_t before = writer->used - length;
        // "(…), (…)" becomes "(…), …", and "(…), …, (…)" stays that.
        if (before >= length + 2 && memcmp(writer->out + before - 2, ", ", 2) == 0
            && memcmp(writer->out + before - 2 - length, rows[index], length) == 0) {
            memcpy(writer->out + before, ellipsis, sizeof ellipsis - 1);
            writer->used = before + sizeof ellipsis - 1;
            return;
        }
        size_t tail = sizeof ellipsis - 1;
        if (before >= tail + 2 && memcmp(writer->out + before - 2 - tail, "\xE2\x80\xA6, ", tail + 2) == 0) {
            writer->used = before - 2;
            return;
        }
    }
}

// The end of a quoted token, in which a doubled quotation mark stands for one.
static size_t end_of_quoted(const char *sql, size_t length, size_t start, char quote) {
    for (size_t at = start + 1; at < length; at++) {
        if (sql[at] != quote) { continue; }
        if (quote == ']' || at + 1 >= length || sql[at + 1] != quote) { return at + 1; }
        at++;
    }
    return length;
}

static size_t end_of_number(const char *sql, size_t length, size_t start) {
    size_t at = start;
    while (at < length) {
        unsigned char byte = (unsigned char)sql[at];
        bool is_exponent_sign = (byte == '+' || byte == '-') && at > start && (sql[at - 1] | 0x20) == 'e'
            && !(length - start > 1 && (sql[start + 1] | 0x20) == 'x');
        if (!continues_word(byte) && byte != '.' && !is_exponent_sign) { break; }
        at++;
    }
    return at;
}

// The end of white space and comments.
static size_t end_of_gap(const char *sql, size_t length, size_t start) {
    size_t at = start;
    for (;;) {
        if (at < length && is_space((unsigned char)sql[at])) {
            at++;
        } else if (at + 1 < length && sql[at] == '-' && sql[at + 1] == '-') {
            while (at < length && sql[at] != '\n') { at++; }
        } else if (at + 1 < length && sql[at] == '/' && sql[at + 1] == '*') {
            at += 2;
            while (at + 1 < length && !(sql[at] == '*' && sql[at + 1] == '/')) { at++; }
            at = at + 2 < length ? at + 2 : length;
        } else {
            return at;
        }
    }
}

// MARK: - Words

typedef struct word {
    const char *text;
    size_t length;
} word;

// Whether two characters of words are the same but for their case.
static inline bool is_same(char one, char other) { return ((one ^ other) & ~0x20) == 0; }

static bool is_word(word found, const char *wanted) {
    return strlen(wanted) == found.length && (found.length == 0 || is_same(*found.text, *wanted))
        && strncasecmp(found.text, wanted, found.length) == 0;
}

// Words are separated by single spaces. Library functions would take longer than the comparison: most words differ in their
// first letter.
static bool is_one_of(word found, const char *words) {
    for (const char *rest = words; *rest != 0;) {
        size_t at = 0;
        while (at < found.length && rest[at] > ' ' && is_same(rest[at], found.text[at])) { at++; }
        if (at == found.length && at > 0 && rest[at] <= ' ') { return true; }
        for (rest += at; *rest > ' ';) { rest++; }
        while (*rest == ' ') { rest++; }
    }
    return false;
}

// A quoted token without its quotation marks.
static word unquoted(word found) {
    bool is_quoted = found.length >= 2 && strchr("\"`[", *found.text) != NULL;
    return is_quoted ? (word){found.text + 1, found.length - 2} : found;
}

// MARK: - Names and texts in double quotation marks

// SQLite takes a word in double quotation marks for a text if it is the name of nothing
// (https://sqlite.org/quirks.html#dblquote). So it is kept only where it must be a name, or is known as one.

// The pragmas of SQLite whose argument is a name of the schema, and those whose argument is a word. Others, such as those for
// the key of an encrypted database, belong to extensions (https://sqlite.org/pragma.html).
static const char pragmas_of_names[] =
    "foreign_key_check foreign_key_list incremental_vacuum index_info index_list index_xinfo integrity_check optimize "
    "quick_check table_info table_list table_xinfo";
static const char pragmas_of_words[] =
    "application_id auto_vacuum automatic_index busy_timeout cache_size cache_spill case_sensitive_like cell_size_check "
    "checkpoint_fullfsync collation_list compile_options data_version database_list defer_foreign_keys encoding foreign_keys "
    "freelist_count fullfsync function_list hard_heap_limit ignore_check_constraints journal_mode journal_size_limit "
    "legacy_alter_table locking_mode max_page_count mmap_size module_list page_count page_size pragma_list query_only "
    "read_uncommitted recursive_triggers reverse_unordered_selects schema_version secure_delete soft_heap_limit synchronous "
    "temp_store threads trusted_schema user_version wal_autocheckpoint wal_checkpoint writable_schema";

// After these words a name follows.
static const char before_names[] =
    "FROM JOIN INTO UPDATE TABLE INDEX VIEW TRIGGER EXISTS AS REFERENCES COLUMN TO ADD RENAME DROP SAVEPOINT RELEASE COLLATE "
    "CONSTRAINT WITH RECURSIVE DETACH PRAGMA";

// The names of a statement that are known to be such, as hashes.
#define NAMES 64

// The nested calls that are kept apart.
#define CALLS 16

typedef struct statement {
    const char *sql;
    size_t length;
    const preload_names *known;
    word verb;               // the statement's first word
    word before, earlier;    // the latest token, and the one before it
    uint32_t depth;          // of parentheses
    word calls[CALLS];       // the words before the open parentheses
    bool is_table, is_module;  // CREATE TABLE; the arguments of CREATE VIRTUAL TABLE … USING
    uint64_t names[NAMES];
    uint32_t name_count;
} statement;

uint64_t preload_hash_word(const char *text, size_t length) {
    uint64_t hash = length + 1;
    for (size_t index = 0; index < length; index++) { hash = fl_mix(hash, (unsigned char)text[index] | 0x20); }
    return hash == 0 ? 1 : hash;
}

static bool has_name(const statement *statement, word name) {
    uint64_t hash = preload_hash_word(name.text, name.length);
    for (uint32_t index = 0; index < statement->name_count; index++) {
        if (statement->names[index] == hash) { return true; }
    }
    return false;
}

static void add_name(statement *statement, word name) {
    if (statement->name_count < NAMES) { statement->names[statement->name_count++] = preload_hash_word(name.text, name.length); }
}

// Whether the statement gives something this name, as in `count(*) AS "total"`.
static bool is_alias(const statement *statement, word quoted) {
    for (const char *place = statement->sql, *end = place + statement->length; place < end;) {
        const char *found = memmem(place, (size_t)(end - place), quoted.text, quoted.length);
        if (found == NULL) { return false; }
        const char *before = found;
        while (before > statement->sql && is_space((unsigned char)before[-1])) { before--; }
        bool is_after_as = before - statement->sql > 2 && before < found && strncasecmp(before - 2, "AS", 2) == 0
            && !continues_word((unsigned char)before[-3]);
        if (is_after_as) { return true; }
        place = found + 1;
    }
    return false;
}

// Whether a word in double quotation marks is a name, and not a text. `end` is the place after it.
static bool is_name(const statement *statement, word quoted, size_t end) {
    word name = unquoted(quoted), before = statement->before;
    size_t next = end_of_gap(statement->sql, statement->length, end);
    if (statement->is_module || is_word(statement->verb, "VACUUM") || is_word(before, "DEFAULT")) { return false; }
    if (is_word(before, ".") || (next < statement->length && statement->sql[next] == '.')) { return true; }
    bool is_operand = is_word(before, "FROM") && is_word(statement->earlier, "DISTINCT");
    if ((is_one_of(before, before_names) && !is_operand) || has_name(statement, name)) { return true; }
    if (statement->is_table && statement->depth == 1 && (is_word(before, "(") || is_word(before, ","))) { return true; }
    bool is_argument = is_word(statement->verb, "PRAGMA") && (is_word(before, "(") || is_word(before, "="));
    if (is_argument) { return is_one_of(unquoted(statement->earlier), pragmas_of_names); }
    if (is_alias(statement, quoted)) { return true; }
    return statement->known != NULL && statement->known->has(statement->known->context, name.text, name.length);
}

// MARK: - Arguments that can be secrets

static size_t end_of_token(const char *sql, size_t length, size_t at) {
    char byte = sql[at];
    size_t end = at + 1;
    if (byte == '"' || byte == '`' || byte == '[') { return end_of_quoted(sql, length, at, byte == '[' ? ']' : byte); }
    if (continues_word((unsigned char)byte)) {
        while (end < length && continues_word((unsigned char)sql[end])) { end++; }
    }
    return end;
}

// The end of the same, or of a text in single quotation marks.
static size_t end_of_any_token(const char *sql, size_t length, size_t at) {
    return sql[at] == '\'' ? end_of_quoted(sql, length, at, '\'') : end_of_token(sql, length, at);
}

// The end of the expression that names the file of an ATTACH, which lasts to the word AS outside of parentheses.
static size_t end_of_file_name(const char *sql, size_t length, size_t start) {
    uint32_t depth = 0;
    for (size_t at = start, last = start, end; at < length; at = end_of_gap(sql, length, end)) {
        end = end_of_any_token(sql, length, at);
        if (depth == 0 && is_word((word){sql + at, end - at}, "AS")) { return last; }
        depth += sql[at] == '(';
        depth -= sql[at] == ')' && depth > 0;
        last = end;
    }
    return length;
}

// The end of a part of a statement that one value replaces, if one begins at a place; otherwise 0. In
// `ATTACH [DATABASE] file AS name [KEY key]`, these are the file and the key.
static size_t end_of_secret(const statement *statement, size_t at) {
    const char *sql = statement->sql;
    if (!is_word(statement->verb, "ATTACH")) { return 0; }
    if (is_word(statement->before, "KEY")) { return statement->length; }
    bool is_first = is_word(statement->before, "ATTACH");
    if (!is_first && !is_word(statement->before, "DATABASE")) { return 0; }
    word next = {sql + at, end_of_any_token(sql, statement->length, at) - at};
    return is_first && is_word(next, "DATABASE") ? 0 : end_of_file_name(sql, statement->length, at);
}

// Whether the argument of a pragma is replaced. `before` is its name.
static bool is_secret_pragma(const statement *statement, char byte) {
    if (!is_word(statement->verb, "PRAGMA") || (byte != '=' && byte != '(')) { return false; }
    word name = unquoted(statement->before);
    return !is_one_of(name, pragmas_of_names) && !is_one_of(name, pragmas_of_words);
}

// MARK: - Normalizing

// Notes a token that was written.
static void advance(statement *statement, word token) {
    word none = {"", 0};
    if (statement->verb.length == 0 || is_one_of(statement->verb, "EXPLAIN QUERY")) {
        // The verb of an explained statement follows.
        statement->verb = is_word(token, "PLAN") ? none : token;
    }
    if (is_word(token, "TABLE") && is_one_of(statement->before, "CREATE TEMP TEMPORARY")) { statement->is_table = true; }
    if (is_word(token, "USING") && is_word(statement->verb, "CREATE") && !statement->is_table) { statement->is_module = true; }
    if (is_word(token, "(")) { statement->calls[statement->depth++ % CALLS] = statement->before; }
    statement->depth -= is_word(token, ")") && statement->depth > 0;
    statement->earlier = statement->before;
    statement->before = token;
}

// Writes a value in place of a token.
static void replace(writer *writer, statement *statement) {
    put_value(writer);
    advance(statement, (word){"?", 1});
}

// Whether a literal belongs to the form of the statement, as the path in json_extract(note, '$.author') does.
static bool is_form(const statement *statement, size_t at, size_t end) {
    word call = statement->depth > 0 ? statement->calls[(statement->depth - 1) % CALLS] : (word){"", 0};
    const char *literal = statement->sql + at;
    size_t length = end - at;
    bool follows = is_word(statement->before, ","), is_first = is_word(statement->before, "(");
    if (*literal != '\'') { return follows && length <= 3 && is_one_of(call, "substr substring round"); }
    if (is_first) { return is_word(call, "strftime") && preload_is_date_format(literal, length); }
    if (follows && is_one_of(call, "date time datetime julianday unixepoch strftime")) {
        return is_one_of((word){literal + 1, length - 2}, "auto julianday localtime subsec unixepoch utc");
    }
    const char *sign = statement->before.text;
    bool is_arrow = is_word(statement->before, ">") && sign > statement->sql + 1
        && (sign[-1] == '-' || (sign[-1] == '>' && sign[-2] == '-'));
    bool is_json = follows && call.length > 5 && strncasecmp(call.text, "json_", 5) == 0;
    return (is_arrow || is_json) && preload_is_json_path(literal, length, is_arrow);
}

static void replace_unless_form(writer *writer, statement *statement, size_t at, size_t end) {
    if (!is_form(statement, at, end)) {
        replace(writer, statement);
        return;
    }
    put(writer, statement->sql + at, end - at);
    advance(statement, (word){statement->sql + at, end - at});
}

size_t preload_normalize(const char *sql, size_t length, const preload_names *known, char *out) {
    writer writer = {.out = out};
    statement statement = {.sql = sql, .length = length, .known = known};
    for (size_t at = end_of_gap(sql, length, 0); at < length && !writer.is_full;) {
        size_t end = at + 1, secret = end_of_secret(&statement, at);
        char byte = sql[at];
        bool is_blob = (byte | 0x20) == 'x' && end < length && sql[end] == '\'';
        bool is_parameter = byte == '?' || ((byte == ':' || byte == '@' || byte == '$') && end < length
            && continues_word((unsigned char)sql[end]));
        if (secret != 0) {
            end = secret;
            replace(&writer, &statement);
        } else if (is_secret_pragma(&statement, byte)) {
            put(&writer, &byte, 1);
            writer.is_spaced = end_of_gap(sql, length, at + 1) > at + 1;
            put_value(&writer);
            if (byte == '(') { put(&writer, ")", 1); }
            end = length;
        } else if (byte == '\'' || is_blob) {
            end = end_of_quoted(sql, length, is_blob ? at + 1 : at, '\'');
            replace_unless_form(&writer, &statement, at, end);
        } else if (is_digit((unsigned char)byte) || (byte == '.' && end < length && is_digit((unsigned char)sql[end]))) {
            end = end_of_number(sql, length, at);
            replace_unless_form(&writer, &statement, at, end);
        } else if (is_parameter) {
            while (end < length && continues_word((unsigned char)sql[end])) { end++; }
            replace(&writer, &statement);
        } else {
            end = end_of_token(sql, length, at);
            word token = {sql + at, end - at};
            bool is_text = byte == '"' && !is_name(&statement, token, end);
            if (is_text) {
                replace(&writer, &statement);
            } else {
                put(&writer, sql + at, end - at);
                if (byte == '"') { add_name(&statement, unquoted(token)); }
                if (byte == ')') { close_row(&writer); }
                advance(&statement, token);
            }
        }
        at = end_of_gap(sql, length, end);
        writer.is_spaced = at > end;
    }
    while (writer.used > 0 && writer.out[writer.used - 1] == ';') { writer.used--; }
    return writer.used;
}

bool preload_is_plain_name(const char *text, size_t length) {
    size_t place = 0;
    while (place < length && continues_word((unsigned char)text[place])) { place++; }
    return place == length && length > 0 && !is_digit((unsigned char)*text);
}

bool preload_is_confidential(const char *text, size_t length) {
    return (length > 6 && (strncasecmp(text, "PRAGMA", 6) == 0 || strncasecmp(text, "ATTACH", 6) == 0))
        || (length > 7 && strncasecmp(text, "EXPLAIN", 7) == 0);
}

void preload_each_table(
    const char *sql, size_t length, bool (*take)(void *context, const char *word, size_t length), void *context
) {
    word before = {"", 0};
    for (size_t at = end_of_gap(sql, length, 0), end; at < length; at = end_of_gap(sql, length, end)) {
        char byte = sql[at];
        end = end_of_any_token(sql, length, at);
        word token = {sql + at, end - at};
        bool can_be_name = continues_word((unsigned char)byte) || strchr("\"`[", byte) != NULL;
        if (can_be_name && is_one_of(before, "FROM JOIN INTO UPDATE TABLE ON REFERENCES , .")
            && !take(context, token.text, token.length)) {
            return;
        }
        before = token;
    }
}

uint32_t preload_type_of(const char *text, size_t length, bool is_read_only) {
    static const struct {
        const char *verb, *type;
    } verbs[] = {
        {"BEGIN", "transaction"}, {"COMMIT", "transaction"}, {"END", "transaction"}, {"ROLLBACK", "transaction"},
        {"SAVEPOINT", "transaction"}, {"RELEASE", "transaction"}, {"CREATE", "schema"}, {"DROP", "schema"},
        {"ALTER", "schema"}, {"PRAGMA", "schema"}, {"ATTACH", "schema"}, {"DETACH", "schema"}, {"VACUUM", "schema"},
        {"ANALYZE", "schema"}, {"REINDEX", "schema"},
    };
    const char *type = is_read_only ? "read" : "write";
    size_t word = 0;
    while (word < length && continues_word((unsigned char)text[word])) { word++; }
    for (size_t index = 0; index < sizeof verbs / sizeof *verbs; index++) {
        if (strlen(verbs[index].verb) == word && strncasecmp(text, verbs[index].verb, word) == 0) {
            type = verbs[index].type;
        }
    }
    int64_t number = fl_enumeration_value(FL_ENUMERATION_STATEMENT_TYPE, type, strlen(type));
    return number < 0 ? 0 : (uint32_t)number;
}
