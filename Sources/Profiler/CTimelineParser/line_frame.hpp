// The parts of a line around its arguments: the array's brackets, and the keys that determine the kind of line.

#ifndef FAULTLINE_LINE_FRAME_HPP
#define FAULTLINE_LINE_FRAME_HPP

#include <timeline_parser.h>

#include "numbers.hpp"

#include <string_view>

namespace {

constexpr std::string_view own_prefix = "faultline.";

// The contents of a JSON string, in place; empty if the token is not a string or contains escapes.
std::string_view plain_string(std::string_view token) {
    token = faultline::trimmed(token);
    if (token.size() < 2 || token.front() != '"' || token.back() != '"') { return {}; }
    token = token.substr(1, token.size() - 2);
    return token.find('\\') == token.npos ? token : std::string_view();
}

// The values of the keys outside `args`, as tokens of the line.
struct Outside {
    std::string_view name, category, phase, time, duration, process, thread;

    // The kind of the line, as far as it can be determined without its arguments.
    ftl_line_kind classify(ftl_line &out) const {
        char letter = phase.size() == 1 ? phase.front() : 0;
        if (letter == 'M') {
            if (name == "faultline.began") { return FTL_LINE_BEGAN; }
            if (name == "faultline.lost") { return FTL_LINE_LOST; }
            if (name == "faultline.ended") { return FTL_LINE_ENDED; }
            if (name.substr(0, own_prefix.size()) == own_prefix) {
                std::string_view kind = name.substr(own_prefix.size());
                out.dictionary = uint32_t(fl_dictionary_kind_named(kind.data(), kind.size()));
                return out.dictionary == FL_DICTIONARY_NONE ? FTL_LINE_FOREIGN : FTL_LINE_ENTRY;
            }
            bool isLabel = name == "process_name" || name == "process_labels" || name == "process_sort_index" ||
                           name == "thread_name" || name == "thread_sort_index";
            return isLabel ? FTL_LINE_VIEWER : FTL_LINE_FOREIGN;
        }
        if (category == "flow" && (letter == 's' || letter == 't' || letter == 'f')) { return FTL_LINE_VIEWER; }
        out.event.header.kind = uint8_t(fl_event_kind_named(category.data(), category.size()));
        if (letter == 'C' && out.event.header.kind != FL_EVENT_MEMORY) { return FTL_LINE_VIEWER; }
        bool isPhase = letter == 'X' || letter == 'b' || letter == 'e' || letter == 'i' || letter == 'C';
        return out.event.header.kind != FL_EVENT_NONE && isPhase ? FTL_LINE_EVENT : FTL_LINE_FOREIGN;
    }

    // Fills in the values from outside `args`.
    ftl_problem finish(ftl_line_kind kind, ftl_line &out) const {
        if (!faultline::parse_unsigned_32(process, out.process)) { return FTL_PROBLEM_NUMBER; }
        if (kind != FTL_LINE_EVENT) { return FTL_PROBLEM_NONE; }
        fl_header &header = out.event.header;
        out.event.process = out.process;
        if (!faultline::parse_unsigned_32(thread, header.thread)) { return FTL_PROBLEM_NUMBER; }
        if (!faultline::parse_microseconds(time, header.start)) { return FTL_PROBLEM_NUMBER; }
        if (!duration.empty() && !faultline::parse_microseconds(duration, header.duration)) { return FTL_PROBLEM_NUMBER; }
        if (phase.front() == 'e' || phase.front() == 'i') {
            // Instant events and ends of scopes are written with the time of their end. Their start is earlier by
            // their duration.
            header.start -= header.duration < header.start ? header.duration : header.start;
        }
        if (phase.front() == 'e' && header.kind == FL_EVENT_SCOPE) { out.event.fields.scope.phase = 1; }
        return FTL_PROBLEM_NONE;
    }
};

bool is_own(ftl_line_kind kind) {
    return kind == FTL_LINE_EVENT || kind == FTL_LINE_ENTRY || kind == FTL_LINE_BEGAN || kind == FTL_LINE_LOST ||
           kind == FTL_LINE_ENDED;
}

bool is_space(char character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

// The object in a line, without the array's brackets, the trailing comma, white space and a byte order mark.
std::string_view strip(std::string_view text) {
    if (text.substr(0, 3) == "\xEF\xBB\xBF") { text.remove_prefix(3); }
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    if (text.size() < 2) { return text; }
    if (text.back() == ',') { text.remove_suffix(1); }
    if (text.front() == '[') { text.remove_prefix(1); }
    if (!text.empty() && text.front() == '{' && text.back() == ']') { text.remove_suffix(1); }
    while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
    while (!text.empty() && is_space(text.back())) { text.remove_suffix(1); }
    return text;
}

}  // namespace

#endif
