#include "interpreted.h"

#include <faultline_text.h>
#include <string.h>

size_t preload_write_frame(
    fl_recorder *recorder, frame_text *text, size_t file, size_t name, int line, const char *language, uint64_t *address
) {
    memcpy(text->names + file + name, &line, sizeof line);
    *address = fl_keyed_hash(recorder, text->names, file + name + sizeof line) | 1ull << 63;
    char *end = fl_put_hexadecimal(fl_put_text(text->entry, "{\"address\":\"0x"), *address, 1);
    end = fl_put_text(end, "\",\"locations\":[{\"file\":");
    end += fl_json_string(end, 2 * FILE_BYTES, text->names, file);
    end = fl_put_text(end, ",\"function\":");
    end += fl_json_string(end, NAME_BYTES, text->names + file, name);
    end = fl_put_number(fl_put_text(end, ",\"line\":"), line < 0 ? 0 : (uint64_t)line);
    end = fl_put_text(end, ",\"symbol\":");
    end += fl_json_string(end, NAME_BYTES, text->names + file, name);
    end = fl_put_text(fl_put_text(end, "}],\"module\":\""), language);
    end = fl_put_text(end, "\"}");
    return (size_t)(end - text->entry);
}

static preload_table known_stacks;

bool preload_find_stack(uint64_t key, uint64_t *stack) { return preload_look_up(&known_stacks, key, stack); }

uint64_t preload_keep_stack(fl_recorder *recorder, uint64_t key, const fl_interpreted *interpreted, uint64_t bits) {
    bool truncated = (bits & PRELOAD_TRUNCATED) != 0;
    uint64_t stack = fl_stack(recorder, interpreted, &truncated);
    if (stack == 0) { return 0; }
    stack |= bits | (truncated ? PRELOAD_TRUNCATED : 0);
    preload_keep(&known_stacks, key, stack);
    return stack;
}
