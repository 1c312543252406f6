// Feeds the parser of a timeline's lines.

#include <timeline_parser.h>

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static ftl_parser *parser = ftl_parser_create();
    static ftl_line line;
    // The first byte says how much memory follows the line, which decides whether it is copied.
    if (size == 0) { return 0; }
    size_t padding = bytes[0] % (2 * FTL_PADDING), length = size - 1;
    char *text = static_cast<char *>(malloc(length + padding + 1));
    memcpy(text, bytes + 1, length);
    memset(text + length, ' ', padding);
    ftl_line_kind kind = ftl_parse_line(parser, text, length, length + padding, &line);
    if (kind != line.kind || (kind == FTL_LINE_MALFORMED) == (line.problem == FTL_PROBLEM_NONE)) { abort(); }
    // A line's own object is a part of it.
    if (kind == FTL_LINE_ENTRY && line.jsonLength > length) { abort(); }
    ftl_may_be_entry(text, length);
    free(text);
    return 0;
}
