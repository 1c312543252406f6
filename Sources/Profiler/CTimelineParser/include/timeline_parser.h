// Parses one line of a timeline from JSON into an event of the schema.

#ifndef FAULTLINE_TIMELINE_PARSER_H
#define FAULTLINE_TIMELINE_PARSER_H

#include <faultline_schema.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The number of readable bytes after a line that allow parsing it in place; with fewer, it is copied first.
#define FTL_PADDING 64

// The kind of a line.
typedef enum __attribute__((enum_extensibility(closed))) ftl_line_kind {
    FTL_LINE_BLANK,      // nothing
    FTL_LINE_OPEN,       // the array's bracket
    FTL_LINE_CLOSE,      // the array's closing bracket
    FTL_LINE_EVENT,      // `event` contains it
    FTL_LINE_ENTRY,      // a dictionary entry: `dictionary`, `id`, `json`
    FTL_LINE_BEGAN,      // a process began: `json`
    FTL_LINE_LOST,       // events were lost: `json`
    FTL_LINE_ENDED,      // a process ended: `json`
    FTL_LINE_VIEWER,     // there for viewers only: names, flow arrows, counters
    FTL_LINE_FOREIGN,    // well-formed, but not Faultline's
    FTL_LINE_MALFORMED,  // `problem` is the reason
} ftl_line_kind;

typedef enum __attribute__((enum_extensibility(closed))) ftl_problem {
    FTL_PROBLEM_NONE,
    FTL_PROBLEM_SYNTAX,   // not a JSON object, or something after it
    FTL_PROBLEM_NUMBER,   // a number is missing, negative, broken or too large for its field
    FTL_PROBLEM_HASH,     // a hash is not a string of at most 16 hexadecimal digits
    FTL_PROBLEM_WORD,     // an enumeration's word is unknown to this version
    FTL_PROBLEM_FLAG,     // a flag is neither true nor false
    FTL_PROBLEM_LIST,     // a list is not an array of arrays of numbers, or is too long
    FTL_PROBLEM_ENTRY,    // a dictionary or process line has no number or no contents
    FTL_PROBLEM_MEMORY,   // not enough memory for the line
} ftl_problem;

typedef struct ftl_line {
    ftl_line_kind kind;
    ftl_problem problem;
    uint32_t process;
    uint32_t dictionary;   // fl_dictionary_kind
    uint64_t id;           // of a dictionary entry
    const char *json;      // the entry's or the process line's own object; valid until the next line
    size_t jsonLength;
    uint32_t unknownKeys;  // keys among an event's fields that the schema does not have
    fl_event event;        // of its lists, only the first listWords words are set
} ftl_line;

// Use one parser per thread.
typedef struct ftl_parser ftl_parser;

// Null if there is not enough memory.
ftl_parser *ftl_parser_create(void);
void ftl_parser_destroy(ftl_parser *parser);

// Parses the `length` bytes at `line`; `capacity` bytes from there must be readable. The line may end with a comma,
// white space, or both. Any bytes are allowed; returns out->kind.
ftl_line_kind ftl_parse_line(ftl_parser *parser, const char *line, size_t length, size_t capacity, ftl_line *out);

// Whether the line may be a dictionary or process line, which excludes events without parsing them. A line that merely
// mentions the prefix of their names passes too.
int ftl_may_be_entry(const char *line, size_t length);

#ifdef __cplusplus
}
#endif

#endif
