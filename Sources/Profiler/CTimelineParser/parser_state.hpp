// The configuration of simdjson, and the state that a parser keeps from line to line.

#ifndef FAULTLINE_PARSER_STATE_HPP
#define FAULTLINE_PARSER_STATE_HPP

// With error codes instead of exceptions, and the same in debug and release builds.
#define SIMDJSON_EXCEPTIONS 0
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>

#include <timeline_parser.h>

#include "key_table.hpp"

#include <cstdlib>

using namespace simdjson;
using faultline::Key;
using faultline::KeyTable;

static_assert(FTL_PADDING >= SIMDJSON_PADDING, "lines are parsed where they are only if simdjson's padding lies behind");

static constexpr uint32_t maximum_lists = 4;

struct ftl_parser {
    ondemand::parser json;
    KeyTable tables[FL_EVENT_KIND_END] = {
        KeyTable(nullptr),
#define X(symbol, ...) KeyTable(fl_schema(FL_EVENT_##symbol)),
        FL_EVENT_KINDS(X)
#undef X
    };
    char *copy = nullptr;
    size_t copyCapacity = 0;
    // Lists as they are read, before they are concatenated in the order of the schema.
    uint64_t words[maximum_lists][FL_MAXIMUM_LIST_WORDS];
    uint32_t wordCounts[maximum_lists];

    ~ftl_parser() { std::free(copy); }
};

#endif
