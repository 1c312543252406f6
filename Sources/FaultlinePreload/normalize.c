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

size_t preload_normalize(const char *sql, size_t length, char *out) {
    writer writer = {.out = out};
    for (size_t at = end_of_gap(sql, length, 0); at < length && !writer.is_full;) {
        size_t end = at + 1;
        char byte = sql[at];
        bool is_blob = (byte | 0x20) == 'x' && end < length && sql[end] == '\'';
        bool is_parameter = byte == '?' || ((byte == ':' || byte == '@' || byte == '$') && end < length
            && continues_word((unsigned char)sql[end]));
        if (byte == '\'' || is_blob) {
            end = end_of_quoted(sql, length, is_blob ? at + 1 : at, '\'');
            put_value(&writer);
        } else if (is_digit((unsigned char)byte) || (byte == '.' && end < length && is_digit((unsigned char)sql[end]))) {
            end = end_of_number(sql, length, at);
            put_value(&writer);
        } else if (is_parameter) {
            while (end < length && continues_word((unsigned char)sql[end])) { end++; }
            put_value(&writer);
        } else {
            if (byte == '"' || byte == '`' || byte == '[') {
                end = end_of_quoted(sql, length, at, byte == '[' ? ']' : byte);
            } else if (continues_word((unsigned char)byte)) {
                while (end < length && continues_word((unsigned char)sql[end])) { end++; }
            }
            put(&writer, sql + at, end - at);
            if (byte == ')') { close_row(&writer); }
        }
        at = end_of_gap(sql, length, end);
        writer.is_spaced = at > end;
    }
    while (writer.used > 0 && writer.out[writer.used - 1] == ';') { writer.used--; }
    return writer.used;
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
