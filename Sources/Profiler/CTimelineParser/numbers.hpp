// Parsers for numbers that must keep every digit: a time in microseconds with three decimals is a whole number of
// nanoseconds, and a double would round it from 2^53.

#ifndef FAULTLINE_NUMBERS_HPP
#define FAULTLINE_NUMBERS_HPP

#include <cstdint>
#include <string_view>

#include "timeline_parser.h"

namespace faultline {

// A token without the white space that simdjson leaves after it.
inline std::string_view trimmed(std::string_view token) {
    while (!token.empty() && std::string_view(" \t\r\n").find(token.back()) != token.npos) {
        token.remove_suffix(1);
    }
    return token;
}

inline bool is_digit(char character) { return character >= '0' && character <= '9'; }

// Appends a decimal digit; false if the result does not fit 64 bits.
inline bool append_digit(uint64_t &value, char digit) {
    return !__builtin_mul_overflow(value, UINT64_C(10), &value) &&
           !__builtin_add_overflow(value, uint64_t(digit - '0'), &value);
}

inline bool parse_unsigned(std::string_view token, uint64_t &value) {
    token = trimmed(token);
    if (token.empty()) { return false; }
    value = 0;
    for (char character : token) {
        if (!is_digit(character) || !append_digit(value, character)) { return false; }
    }
    return value <= fl_largest_number;
}

inline bool parse_unsigned_32(std::string_view token, uint32_t &value) {
    uint64_t wide = 0;
    if (!parse_unsigned(token, wide) || wide > UINT32_MAX) { return false; }
    value = uint32_t(wide);
    return true;
}

// Parses decimal microseconds into nanoseconds; digits after the third decimal are dropped.
inline bool parse_microseconds(std::string_view token, uint64_t &nanoseconds) {
    token = trimmed(token);
    if (token.empty() || !is_digit(token.front())) { return false; }
    uint64_t value = 0;
    size_t at = 0;
    for (; at < token.size() && is_digit(token[at]); at++) {
        if (!append_digit(value, token[at])) { return false; }
    }
    int decimals = 0;
    if (at < token.size()) {
        if (token[at++] != '.' || at == token.size()) { return false; }
        for (; at < token.size(); at++) {
            if (!is_digit(token[at])) { return false; }
            if (decimals == 3) { continue; }
            if (!append_digit(value, token[at])) { return false; }
            decimals++;
        }
    }
    for (; decimals < 3; decimals++) {
        if (!append_digit(value, '0')) { return false; }
    }
    nanoseconds = value;
    return value <= fl_largest_number;
}

inline bool parse_hash(std::string_view digits, uint64_t &value) {
    if (digits.empty() || digits.size() > 16) { return false; }
    value = 0;
    for (char character : digits) {
        uint64_t digit;
        if (is_digit(character)) {
            digit = uint64_t(character - '0');
        } else if (character >= 'a' && character <= 'f') {
            digit = uint64_t(character - 'a') + 10;
        } else if (character >= 'A' && character <= 'F') {
            digit = uint64_t(character - 'A') + 10;
        } else {
            return false;
        }
        value = value << 4 | digit;
    }
    return true;
}

}  // namespace faultline

#endif
