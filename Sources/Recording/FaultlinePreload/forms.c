#include "preload.h"

#include <string.h>

// Literals that belong to the form of a statement: an index on an expression must have them, too. They are kept if they can
// only be names: letters, and small numbers.

static bool is_letter(char byte) { return ((unsigned char)byte | 0x20) - 'a' < 26u || byte == '_'; }
static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The longest name in a path, and the most digits of the position in an array.
#define NAME_MAXIMUM 32
#define DIGITS 3

static size_t end_of_name(const char *text, size_t length, size_t start) {
    size_t at = start;
    while (at < length && is_letter(text[at]) && at - start < NAME_MAXIMUM) { at++; }
    return at;
}

bool preload_is_json_path(const char *literal, size_t length, bool can_be_name) {
    if (length < 3 || literal[length - 1] != '\'') { return false; }
    size_t at = 1, end = length - 1;
    if (literal[at] != '$') { return can_be_name && end_of_name(literal, end, at) == end; }
    for (at++; at < end;) {
        size_t next = at + 1;
        if (literal[at] == '.') {
            next = end_of_name(literal, end, next);
            if (next == at + 1) { return false; }
        } else if (literal[at] == '[') {
            while (next < end && is_digit(literal[next]) && next - at <= DIGITS) { next++; }
            if (next == at + 1 || next >= end || literal[next] != ']') { return false; }
            next++;
        } else {
            return false;
        }
        at = next;
    }
    return true;
}

bool preload_is_date_format(const char *literal, size_t length) {
    if (length < 4 || literal[length - 1] != '\'') { return false; }
    for (size_t at = 1; at + 1 < length; at++) {
        if (literal[at] == '%' && is_letter(literal[at + 1])) {
            at++;
        } else if (strchr("-/:. T", literal[at]) == NULL) {
            return false;
        }
    }
    return true;
}
