// Parses one line of a timeline with simdjson's on-demand parser.
//
// Lines are parsed one at a time. The parser's own interface for many documents (iterate_many, 3.0.1) reads a null
// pointer after a malformed one, and a damaged line must cost only that line.

#include "event_fields.hpp"
#include "line_frame.hpp"
#include "parser_state.hpp"

#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>

ftl_parser *ftl_parser_create(void) {
    ftl_parser *parser = new (std::nothrow) ftl_parser;
    if (parser == nullptr) { return nullptr; }
    for (uint32_t kind = 1; kind < FL_EVENT_KIND_END; kind++) {
        if (!parser->tables[kind].isComplete() || fl_schema(kind)->listCount > maximum_lists) { std::abort(); }
    }
    return parser;
}

void ftl_parser_destroy(ftl_parser *parser) { delete parser; }

namespace {

ftl_problem read_entry(ondemand::object arguments, const char *end, ftl_line &out) {
    bool hasID = false;
    for (auto field : arguments) {
        ondemand::raw_json_string name;
        ondemand::value value;
        if (auto error = field.key().get(name)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        if (auto error = field.value().get(value)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        std::string_view text = key_text(name, end);
        if (text == "id") {
            if (auto error = value.get_uint64().get(out.id)) { return problem_of(error, FTL_PROBLEM_NUMBER); }
            if (out.id > UINT32_MAX) { return FTL_PROBLEM_NUMBER; }
            hasID = true;
        } else if (text == "entry") {
            ondemand::object entry;
            std::string_view json;
            if (auto error = value.get_object().get(entry)) { return problem_of(error, FTL_PROBLEM_ENTRY); }
            if (auto error = entry.raw_json().get(json)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
            json = faultline::trimmed(json);
            out.json = json.data();
            out.jsonLength = json.size();
        }
    }
    return hasID && out.json != nullptr ? FTL_PROBLEM_NONE : FTL_PROBLEM_ENTRY;
}

ftl_problem read_process(ondemand::object arguments, ftl_line &out) {
    std::string_view json;
    if (auto error = arguments.raw_json().get(json)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
    json = faultline::trimmed(json);
    out.json = json.data();
    out.jsonLength = json.size();
    return FTL_PROBLEM_NONE;
}

ftl_problem read_arguments(
    ftl_parser *parser, ondemand::value value, ftl_line_kind kind, const char *end, ftl_line &out
) {
    ondemand::object arguments;
    if (auto error = value.get_object().get(arguments)) { return problem_of(error, FTL_PROBLEM_ENTRY); }
    if (kind == FTL_LINE_EVENT) { return read_event(parser, arguments, end, out); }
    if (kind == FTL_LINE_ENTRY) { return read_entry(arguments, end, out); }
    return read_process(arguments, out);
}

// Passes through the object once. The arguments are read on the way if the keys before them determine their kind, as
// in every line that Faultline writes. Afterwards `outside` is complete, and `didRead` is set if the arguments were
// read.
ftl_problem pass(
    ftl_parser *parser, ondemand::document &document, const char *end, Outside &outside, bool isLast, bool &didRead,
    ftl_line &out
) {
    ondemand::object object;
    if (auto error = document.get_object().get(object)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
    for (auto field : object) {
        ondemand::raw_json_string name;
        ondemand::value value;
        if (auto error = field.key().get(name)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        if (auto error = field.value().get(value)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        std::string_view key = key_text(name, end);
        if (key == "args") {
            ftl_line_kind kind = outside.classify(out);
            if (didRead || !is_own(kind) || (!isLast && outside.phase.empty())) { continue; }
            ftl_problem problem = read_arguments(parser, value, kind, end, out);
            if (problem != FTL_PROBLEM_NONE) { return problem; }
            didRead = true;
        } else if (!isLast) {
            if (key == "name") { outside.name = plain_string(value.raw_json_token()); }
            else if (key == "cat") { outside.category = plain_string(value.raw_json_token()); }
            else if (key == "ph") { outside.phase = plain_string(value.raw_json_token()); }
            else if (key == "ts") { outside.time = value.raw_json_token(); }
            else if (key == "dur") { outside.duration = value.raw_json_token(); }
            else if (key == "pid") { outside.process = value.raw_json_token(); }
            else if (key == "tid") { outside.thread = value.raw_json_token(); }
        }
    }
    if (document.current_location().error() != OUT_OF_BOUNDS) { return FTL_PROBLEM_SYNTAX; }
    return FTL_PROBLEM_NONE;
}

ftl_line_kind malformed(ftl_line &out, ftl_problem problem) {
    out.kind = FTL_LINE_MALFORMED;
    out.problem = problem;
    return out.kind;
}

ftl_line_kind parse_object(ftl_parser *parser, std::string_view text, size_t capacity, ftl_line &out) {
    if (parser->json.capacity() < text.size()) {
        // Doubled, since simdjson reallocates for every line that is longer than all before.
        size_t room = 4096;
        while (room < text.size()) { room *= 2; }
        if (parser->json.allocate(room)) { return malformed(out, FTL_PROBLEM_MEMORY); }
    }
    ondemand::document document;
    if (auto error = parser->json.iterate(text.data(), text.size(), capacity).get(document)) {
        return malformed(out, problem_of(error, FTL_PROBLEM_SYNTAX));
    }
    const char *end = text.data() + text.size();
    Outside outside;
    bool didRead = false;
    ftl_problem problem = pass(parser, document, end, outside, false, didRead, out);
    if (problem != FTL_PROBLEM_NONE) { return malformed(out, problem); }
    ftl_line_kind kind = outside.classify(out);
    if (is_own(kind) && !didRead) {
        document.rewind();
        problem = pass(parser, document, end, outside, true, didRead, out);
        if (problem != FTL_PROBLEM_NONE) { return malformed(out, problem); }
    }
    // This also covers a repeated key that changed the kind of the line after its arguments were read.
    if (is_own(kind) && kind != FTL_LINE_EVENT && out.json == nullptr) { return malformed(out, FTL_PROBLEM_ENTRY); }
    // Other producers use words like "sql" as categories too, but Faultline's events have an ID. A reading of memory has
    // none, because viewers would show it as a curve.
    bool isReading = out.event.header.kind == FL_EVENT_MEMORY && out.event.fields.memory.resident != 0;
    if (kind == FTL_LINE_EVENT && out.event.header.id == 0 && !isReading) { kind = FTL_LINE_FOREIGN; }
    if (is_own(kind)) {
        problem = outside.finish(kind, out);
        if (problem != FTL_PROBLEM_NONE) { return malformed(out, problem); }
    }
    out.kind = kind;
    return kind;
}

}  // namespace

int ftl_may_be_entry(const char *line, size_t length) {
    static constexpr std::string_view start = "\"faultline.";
    return memmem(line, length, start.data(), start.size()) != nullptr;
}

ftl_line_kind ftl_parse_line(ftl_parser *parser, const char *line, size_t length, size_t capacity, ftl_line *out) {
    // The event's lists are not cleared: most events have none, and that would clear 4 KiB for each line.
    std::memset(out, 0, offsetof(ftl_line, event) + offsetof(fl_event, lists));
    std::string_view text = strip({line, length});
    if (text.empty()) { return out->kind = FTL_LINE_BLANK; }
    if (text == "[") { return out->kind = FTL_LINE_OPEN; }
    if (text == "]") { return out->kind = FTL_LINE_CLOSE; }
    size_t room = capacity - size_t(text.data() - line);
    if (room < text.size() + SIMDJSON_PADDING) {
        if (parser->copyCapacity < text.size() + SIMDJSON_PADDING) {
            size_t wanted = 2 * text.size() + SIMDJSON_PADDING;
            char *larger = static_cast<char *>(std::realloc(parser->copy, wanted));
            if (larger == nullptr) { return malformed(*out, FTL_PROBLEM_MEMORY); }
            std::memset(larger, ' ', wanted);
            parser->copy = larger;
            parser->copyCapacity = wanted;
        }
        std::memcpy(parser->copy, text.data(), text.size());
        std::memset(parser->copy + text.size(), ' ', SIMDJSON_PADDING);
        text = {parser->copy, text.size()};
        room = parser->copyCapacity;
    }
    return parse_object(parser, text, room, *out);
}
