// One line of a timeline through simdjson's on-demand parser, with its error codes and never its exceptions.
//
// A line at a time, since the parser's own way through many documents (iterate_many, 3.0.1) reads a null pointer
// behind a malformed one, and since a damaged line must cost that line only.

#define SIMDJSON_EXCEPTIONS 0
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>

#include <timeline_parser.h>

#include "key_table.hpp"
#include "numbers.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

using namespace simdjson;
using faultline::Key;
using faultline::KeyTable;

static_assert(FTL_PADDING >= SIMDJSON_PADDING, "lines are parsed where they are only if simdjson's padding lies behind");

static constexpr std::string_view own_prefix = "faultline.";
static constexpr uint32_t maximum_lists = 4;

// MARK: - The parser

struct ftl_parser {
    ondemand::parser json;
    KeyTable tables[FL_EVENT_KIND_END] = {
        KeyTable(nullptr), KeyTable(fl_schema(1)), KeyTable(fl_schema(2)), KeyTable(fl_schema(3)), KeyTable(fl_schema(4)),
        KeyTable(fl_schema(5)), KeyTable(fl_schema(6)), KeyTable(fl_schema(7)), KeyTable(fl_schema(8)),
    };
    char *copy = nullptr;
    size_t copyCapacity = 0;
    // Lists as they come, before they are put behind each other in the order of the schema.
    uint64_t words[maximum_lists][FL_MAXIMUM_LIST_WORDS];
    uint32_t wordCounts[maximum_lists];

    ~ftl_parser() { std::free(copy); }
};

static_assert(FL_EVENT_KIND_END == 9, "every kind has a table in ftl_parser");

ftl_parser *ftl_parser_create(void) {
    ftl_parser *parser = new (std::nothrow) ftl_parser;
    if (parser == nullptr) { return nullptr; }
    for (uint32_t kind = 1; kind < FL_EVENT_KIND_END; kind++) {
        if (!parser->tables[kind].isComplete() || fl_schema(kind)->listCount > maximum_lists) { std::abort(); }
    }
    return parser;
}

void ftl_parser_destroy(ftl_parser *parser) { delete parser; }

// MARK: - Fields

namespace {

// The key as it stands in the line. A key with escapes comes out cut, and so as one that nobody knows.
std::string_view key_text(ondemand::raw_json_string key, const char *end) {
    const char *start = key.raw();
    const char *at = start;
    while (at < end && *at != '"') { at++; }
    return {start, size_t(at - start)};
}

// An error in the value's type is the field's problem, any other the line's.
ftl_problem problem_of(error_code error, ftl_problem wrongType) {
    switch (error) {
    case SUCCESS: return FTL_PROBLEM_NONE;
    case INCORRECT_TYPE:
    case NUMBER_ERROR:
    case N_ATOM_ERROR:
    case T_ATOM_ERROR:
    case F_ATOM_ERROR: return wrongType;
    case MEMALLOC: return FTL_PROBLEM_MEMORY;
    default: return FTL_PROBLEM_SYNTAX;
    }
}

ftl_problem read_list(ftl_parser *parser, const Key &key, ondemand::value value) {
    uint64_t *words = parser->words[key.listIndex];
    uint32_t count = 0;
    ondemand::array entries;
    if (auto error = value.get_array().get(entries)) { return problem_of(error, FTL_PROBLEM_LIST); }
    for (auto element : entries) {
        ondemand::array entry;
        if (auto error = element.get_array().get(entry)) { return problem_of(error, FTL_PROBLEM_LIST); }
        if (count + key.list->words > FL_MAXIMUM_LIST_WORDS) { return FTL_PROBLEM_LIST; }
        uint32_t filled = 0;
        for (auto number : entry) {
            uint64_t word = 0;
            if (auto error = number.get_uint64().get(word)) { return problem_of(error, FTL_PROBLEM_NUMBER); }
            // A later version may add numbers to an entry.
            if (filled < key.list->words) { words[count + filled++] = word; }
        }
        if (filled != key.list->words) { return FTL_PROBLEM_LIST; }
        count += filled;
    }
    parser->wordCounts[key.listIndex] = count;
    return FTL_PROBLEM_NONE;
}

ftl_problem read_field(const Key &key, ondemand::value value, fl_event &event) {
    uint64_t number = 0;
    switch (fl_field_meaning(key.field->meaning)) {
    case FL_HASH: {
        std::string_view digits;
        if (auto error = value.get_string().get(digits)) { return problem_of(error, FTL_PROBLEM_HASH); }
        if (!faultline::parse_hash(digits, number)) { return FTL_PROBLEM_HASH; }
        break;
    }
    case FL_ENUMERATION: {
        std::string_view word;
        if (auto error = value.get_string().get(word)) { return problem_of(error, FTL_PROBLEM_WORD); }
        int64_t known = fl_enumeration_value(key.field->detail, word.data(), word.size());
        if (known < 0) { return FTL_PROBLEM_WORD; }
        number = uint64_t(known);
        break;
    }
    case FL_FLAG: {
        bool flag = false;
        if (auto error = value.get_bool().get(flag)) { return problem_of(error, FTL_PROBLEM_FLAG); }
        number = flag;
        break;
    }
    case FL_COUNT: case FL_BYTES: case FL_NANOSECONDS: case FL_EVENT_ID: case FL_REFERENCE: case FL_CODE:
        if (auto error = value.get_uint64().get(number)) { return problem_of(error, FTL_PROBLEM_NUMBER); }
        // A reference that was cut to 32 bits would name another entry; a count is only held at its maximum.
        if (key.field->meaning == FL_REFERENCE && number > UINT32_MAX) { return FTL_PROBLEM_NUMBER; }
        break;
    }
    fl_field_set(key.field, key.isCommon ? static_cast<void *>(&event.header) : fl_event_fields_mutable(&event), number);
    return FTL_PROBLEM_NONE;
}

// The lists behind each other, and their lengths in the fields of their names.
ftl_problem join_lists(const ftl_parser *parser, const fl_event_schema *schema, fl_event &event) {
    uint32_t total = 0;
    for (uint32_t index = 0; index < schema->listCount; index++) {
        const fl_list &list = schema->lists[index];
        uint32_t words = parser->wordCounts[index];
        if (total + words > FL_MAXIMUM_LIST_WORDS) { return FTL_PROBLEM_LIST; }
        if (words != 0) { std::memcpy(event.lists + total, parser->words[index], words * sizeof(uint64_t)); }
        total += words;
        uint32_t entries = words / list.words;
        std::memcpy(static_cast<char *>(fl_event_fields_mutable(&event)) + list.countOffset, &entries, sizeof entries);
    }
    event.listWords = total;
    return FTL_PROBLEM_NONE;
}

ftl_problem read_event(ftl_parser *parser, ondemand::object arguments, const char *end, ftl_line &out) {
    fl_event &event = out.event;
    const fl_event_schema *schema = fl_schema(event.header.kind);
    const KeyTable &table = parser->tables[event.header.kind];
    std::memset(parser->wordCounts, 0, sizeof parser->wordCounts);
    size_t cursor = 0;
    for (auto field : arguments) {
        ondemand::raw_json_string name;
        ondemand::value value;
        if (auto error = field.key().get(name)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        if (auto error = field.value().get(value)) { return problem_of(error, FTL_PROBLEM_SYNTAX); }
        std::string_view text = key_text(name, end);
        const Key *key = table.find(text, cursor);
        ftl_problem problem = FTL_PROBLEM_NONE;
        if (key != nullptr) {
            problem = key->list != nullptr ? read_list(parser, *key, value) : read_field(*key, value, event);
        } else if (text == "main") {
            bool isMain = false;
            problem = problem_of(value.get_bool().get(isMain), FTL_PROBLEM_FLAG);
            if (isMain) { event.header.flags |= FL_ON_MAIN_THREAD; }
        } else {
            out.unknownKeys++;
        }
        if (problem != FTL_PROBLEM_NONE) { return problem; }
    }
    return join_lists(parser, schema, event);
}

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

// MARK: - Lines

// A JSON string's contents where they stand; empty for what is no string or holds escapes.
std::string_view plain_string(std::string_view token) {
    token = faultline::trimmed(token);
    if (token.size() < 2 || token.front() != '"' || token.back() != '"') { return {}; }
    token = token.substr(1, token.size() - 2);
    return token.find('\\') == token.npos ? token : std::string_view();
}

// What the keys outside `args` say, as tokens of the line.
struct Outside {
    std::string_view name, category, phase, time, duration, process, thread;

    // What the line is, as far as can be told without its arguments.
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
        if (letter == 'C' || (category == "flow" && (letter == 's' || letter == 't' || letter == 'f'))) {
            return FTL_LINE_VIEWER;
        }
        out.event.header.kind = uint8_t(fl_event_kind_named(category.data(), category.size()));
        bool isPhase = letter == 'X' || letter == 'b' || letter == 'e' || letter == 'i';
        return out.event.header.kind != FL_EVENT_NONE && isPhase ? FTL_LINE_EVENT : FTL_LINE_FOREIGN;
    }

    // Takes in what is known outside `args`.
    ftl_problem finish(ftl_line_kind kind, ftl_line &out) const {
        if (!faultline::parse_unsigned_32(process, out.process)) { return FTL_PROBLEM_NUMBER; }
        if (kind != FTL_LINE_EVENT) { return FTL_PROBLEM_NONE; }
        fl_header &header = out.event.header;
        out.event.process = out.process;
        if (!faultline::parse_unsigned_32(thread, header.thread)) { return FTL_PROBLEM_NUMBER; }
        if (!faultline::parse_microseconds(time, header.start)) { return FTL_PROBLEM_NUMBER; }
        if (!duration.empty() && !faultline::parse_microseconds(duration, header.duration)) { return FTL_PROBLEM_NUMBER; }
        if (phase.front() == 'e') {
            // The end of an asynchronous event stands at its end in the timeline; the event began before.
            header.start -= header.duration < header.start ? header.duration : header.start;
            if (header.kind == FL_EVENT_SCOPE) { out.event.fields.scope.phase = 1; }
        }
        return FTL_PROBLEM_NONE;
    }
};

bool is_own(ftl_line_kind kind) {
    return kind == FTL_LINE_EVENT || kind == FTL_LINE_ENTRY || kind == FTL_LINE_BEGAN || kind == FTL_LINE_LOST ||
           kind == FTL_LINE_ENDED;
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

// Once through the object. The arguments are read on the way if what stands before them says what they are (as in
// every line that Faultline writes); `outside` is complete afterwards, and `didRead` tells.
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
        // Doubled, since simdjson allocates anew for every line that is longer than all before.
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
    // Also when a key that stands twice made the line another's than its arguments were read for.
    if (is_own(kind) && kind != FTL_LINE_EVENT && out.json == nullptr) { return malformed(out, FTL_PROBLEM_ENTRY); }
    // Others use words like "sql" as categories too; an event of ours has a number.
    if (kind == FTL_LINE_EVENT && out.event.header.id == 0) { kind = FTL_LINE_FOREIGN; }
    if (is_own(kind)) {
        problem = outside.finish(kind, out);
        if (problem != FTL_PROBLEM_NONE) { return malformed(out, problem); }
    }
    out.kind = kind;
    return kind;
}

bool is_space(char character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

// The object in a line: without the array's brackets, the comma behind it, white space and a byte order mark.
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

int ftl_may_be_entry(const char *line, size_t length) {
    static constexpr std::string_view start = "\"faultline.";
    return memmem(line, length, start.data(), start.size()) != nullptr;
}

ftl_line_kind ftl_parse_line(ftl_parser *parser, const char *line, size_t length, size_t capacity, ftl_line *out) {
    // The event's lists are left as they are: most events have none, and 4 KiB would be cleared for each line.
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
