// Writing text into a buffer that has room for it. Each function returns the end of what it wrote.

#ifndef FAULTLINE_TEXT_H
#define FAULTLINE_TEXT_H

#include <stdint.h>
#include <string.h>

static inline char *fl_put_text(char *out, const char *text) {
    size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

static inline char *fl_put_number(char *out, uint64_t number) {
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) { *out++ = digits[--count]; }
    return out;
}

static inline char *fl_put_hexadecimal(char *out, uint64_t number, int width) {
    static const char digits[] = "0123456789abcdef";
    char reversed[16];
    int count = 0;
    do {
        reversed[count++] = digits[number & 15];
        number >>= 4;
    } while (number != 0 || count < width);
    while (count > 0) { *out++ = reversed[--count]; }
    return out;
}

#endif
