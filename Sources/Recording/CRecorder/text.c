#include "recorder.h"

#include <string.h>

// MARK: - UTF-8

// The length of a character by its first byte; 0 if none begins that way. `low` and `high` bound its second byte,
// which excludes overlong forms, surrogates and code points above U+10FFFF (RFC 3629).
static size_t length_from(unsigned char first, unsigned char *low, unsigned char *high) {
    *low = 0x80;
    *high = 0xbf;
    if (first < 0x80) { return 1; }
    if (first < 0xc2 || first > 0xf4) { return 0; }
    if (first < 0xe0) { return 2; }
    if (first < 0xf0) {
        if (first == 0xe0) { *low = 0xa0; }
        if (first == 0xed) { *high = 0x9f; }
        return 3;
    }
    if (first == 0xf0) { *low = 0x90; }
    if (first == 0xf4) { *high = 0x8f; }
    return 4;
}

// The number of bytes that belong together, and whether they form a complete character.
static size_t next_character(const char *text, size_t length, bool *is_whole) {
    unsigned char low, high;
    size_t wanted = length_from((unsigned char)text[0], &low, &high), count = 1;
    while (count < wanted && count < length) {
        unsigned char byte = (unsigned char)text[count];
        if (byte < low || byte > high) { break; }
        low = 0x80;
        high = 0xbf;
        count++;
    }
    *is_whole = wanted != 0 && count == wanted;
    return count;
}

size_t fl_cut_text(const char *text, size_t length, size_t limit) {
    if (length < limit) { return length; }
    length = limit;
    size_t start = length;
    // A character has up to three bytes after its first.
    while (start > 0 && length - start < 4) {
        start--;
        if (((unsigned char)text[start] & 0xc0) == 0x80) { continue; }
        unsigned char low, high;
        size_t wanted = length_from((unsigned char)text[start], &low, &high);
        return start + wanted > length ? start : length;
    }
    return length;
}

// MARK: - JSON

size_t fl_json_string(char *out, size_t room, const char *text, size_t length) {
    static const char digits[] = "0123456789abcdef";
    if (room < 2) { return 0; }
    size_t used = 0;
    out[used++] = '"';
    for (size_t index = 0; index < length && used + 7 < room;) {
        bool is_whole;
        size_t count = next_character(text + index, length - index, &is_whole);
        unsigned char byte = (unsigned char)text[index];
        if (!is_whole) {
            memcpy(out + used, "\xef\xbf\xbd", 3);   // U+FFFD
            used += 3;
        } else if (byte == '"' || byte == '\\') {
            out[used++] = '\\';
            out[used++] = (char)byte;
        } else if (byte < 0x20) {
            memcpy(out + used, "\\u00", 4);
            out[used + 4] = digits[byte >> 4];
            out[used + 5] = digits[byte & 15];
            used += 6;
        } else {
            memcpy(out + used, text + index, count);
            used += count;
        }
        index += count;
    }
    out[used++] = '"';
    return used;
}
