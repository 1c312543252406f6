// The arguments of an event's line: the schema's fields and lists.

#ifndef FAULTLINE_EVENT_FIELDS_HPP
#define FAULTLINE_EVENT_FIELDS_HPP

#include "numbers.hpp"
#include "parser_state.hpp"

#include <cstring>
#include <string_view>

namespace {

// The key as written in the line. A key with escapes is cut short, and therefore unknown.
std::string_view key_text(ondemand::raw_json_string key, const char *end) {
    const char *start = key.raw();
    const char *at = start;
    while (at < end && *at != '"') { at++; }
    return {start, size_t(at - start)};
}

// Blames an error in the value's type on the field, and any other on the line.
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
            if (word > fl_largest_number) { return FTL_PROBLEM_NUMBER; }
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
    default:
        if (auto error = value.get_uint64().get(number)) { return problem_of(error, FTL_PROBLEM_NUMBER); }
        // A reference truncated to 32 bits would name another entry; a count is only clamped to its maximum.
        if (number > (key.field->meaning == FL_REFERENCE ? UINT32_MAX : fl_largest_number)) {
            return FTL_PROBLEM_NUMBER;
        }
        break;
    }
    fl_field_set(key.field, key.isCommon ? static_cast<void *>(&event.header) : fl_event_fields_mutable(&event), number);
    return FTL_PROBLEM_NONE;
}

// Concatenates the lists, and stores their lengths in the fields of the same names.
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

}  // namespace

#endif
