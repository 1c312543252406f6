#include "ctf_internal.h"

#include <stdlib.h>
#include <string.h>

// MARK: - Values

bool ctf_read_number(const bt_field *field, uint64_t *number) {
    return ctf_read_number_of_type(field, bt_field_get_class_type(field), number);
}

static bool is_array(const bt_field *field) {
    bt_field_class_type type = bt_field_get_class_type(field);
    return type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY || type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD
        || type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD;
}

static bool read_numbers(const bt_field *field, uint64_t *numbers, uint64_t limit, uint32_t *count) {
    if (!is_array(field)) { return false; }
    uint64_t length = bt_field_array_get_length(field);
    if (length > limit) { return false; }
    for (uint64_t index = 0; index < length; index++) {
        if (!ctf_read_number(bt_field_array_borrow_element_field_by_index_const(field, index), &numbers[index])) { return false; }
    }
    *count = (uint32_t)length;
    return true;
}

static const bt_field *member_named(const bt_field *payload, const char *name) {
    return bt_field_structure_borrow_member_field_by_name_const(payload, name);
}

static bool number_named(const bt_field *payload, const char *name, uint64_t *number) {
    const bt_field *field = member_named(payload, name);
    return field != NULL && ctf_read_number(field, number) && *number <= fl_largest_number;
}

static bool text_named(const bt_field *payload, const char *name, const char **text, size_t *length) {
    const bt_field *field = member_named(payload, name);
    if (field == NULL || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING) { return false; }
    *text = bt_field_string_get_value(field);
    *length = bt_field_string_get_length(field);
    return true;
}

// MARK: - Events

static bool read_lists(const bt_field *field, fl_event *event) {
    if (!read_numbers(field, event->lists, FL_MAXIMUM_LIST_WORDS, &event->listWords)) { return false; }
    for (uint32_t word = 0; word < event->listWords; word++) {
        if (event->lists[word] > fl_largest_number) { return false; }
    }
    return true;
}

static bool read_event(const event_class *class, const bt_field *payload, fl_event *event) {
    // Clearing the lists is unnecessary: only their first listWords words are used.
    memset(event, 0, offsetof(fl_event, lists));
    event->header.kind = (uint8_t)class->kind;
    for (const member *member = class->members, *end = member + class->member_count; member < end; member++) {
        const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(payload, member->index);
        char *destination = (char *)event + member->offset;
        uint64_t number = 0;
        if (__builtin_expect(member->is_unsigned, true)) {
            number = bt_field_integer_unsigned_get_value(field);
        } else if (member->is_lists) {
            if (!read_lists(field, event)) { return false; }
            continue;
        } else if (!ctf_read_number_of_type(field, member->type, &number)) {
            return false;
        }
        if (__builtin_expect(number > member->limit, false)) { return false; }
        if (member->width == sizeof(uint8_t)) {
            *(uint8_t *)destination = (uint8_t)number;
        } else {
            fl_number_set(destination, member->width, number);
        }
    }
    return event->header.id != 0;
}

static bool read_entry(const bt_field *payload, ctf_message *message) {
    uint64_t process = 0, id = 0;
    const char *kind = NULL;
    size_t length = 0;
    if (!number_named(payload, "process", &process) || !number_named(payload, "id", &id)
        || !text_named(payload, "kind", &kind, &length)
        || !text_named(payload, "json", &message->text, &message->length)) {
        return false;
    }
    message->process = (uint32_t)process;
    message->id = (uint32_t)id;
    message->dictionary = fl_dictionary_kind_named(kind, length);
    return true;
}

static bool read_stack(ctf_reader *reader, const bt_field *payload, ctf_message *message) {
    uint64_t process = 0, id = 0, is_truncated = 0;
    const bt_field *frames = member_named(payload, "frames");
    if (reader->frames == NULL) { reader->frames = calloc(FL_MAXIMUM_LIST_WORDS, sizeof *reader->frames); }
    if (reader->frames == NULL || frames == NULL || !number_named(payload, "process", &process)
        || !number_named(payload, "id", &id) || !number_named(payload, "isTruncated", &is_truncated)
        || !read_numbers(frames, reader->frames, FL_MAXIMUM_LIST_WORDS, &message->frame_count)) {
        return false;
    }
    message->process = (uint32_t)process;
    message->id = (uint32_t)id;
    message->dictionary = FL_DICTIONARY_STACK;
    message->is_truncated = is_truncated != 0;
    message->frames = reader->frames;
    return true;
}

static bool read_process(const bt_field *payload, ctf_message *message) {
    uint64_t process = 0, version = 0, is_observed = 0;
    const bt_field *date = member_named(payload, "date");
    if (!number_named(payload, "process", &process) || !number_named(payload, "version", &version)
        || !number_named(payload, "start", &message->start) || !number_named(payload, "origin", &message->origin)
        || !text_named(payload, "program", &message->text, &message->length)) {
        return false;
    }
    message->process = (uint32_t)process;
    message->version = (uint32_t)version;
    // Older traces do not state it.
    message->is_observed = number_named(payload, "isObserved", &is_observed) && is_observed != 0;
    message->date = 0;
    if (date != NULL && bt_field_get_class_type(date) == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
        message->date = bt_field_real_double_precision_get_value(date);
    }
    return true;
}

static bool read_end(const bt_field *payload, ctf_message *message) {
    uint64_t process = 0;
    bool read = number_named(payload, "process", &process) && number_named(payload, "end", &message->end)
        && number_named(payload, "events", &message->events) && number_named(payload, "lost", &message->lost)
        && number_named(payload, "entriesLost", &message->entries_lost)
        && number_named(payload, "usesLost", &message->uses_lost);
    message->process = (uint32_t)process;
    return read;
}

ctf_kind ctf_read_event(ctf_reader *reader, const bt_event *given, ctf_message *message, fl_event *event) {
    const event_class *class = ctf_class_of(reader, bt_event_borrow_class_const(given));
    const bt_field *payload = bt_event_borrow_payload_field_const(given);
    if (class == NULL || payload == NULL) { return CTF_MALFORMED; }
    if (class->kind != FL_EVENT_NONE) {
        if (reader->names_only) { return CTF_PASSED_OVER; }
        return read_event(class, payload, event) ? CTF_EVENT : CTF_MALFORMED;
    }
    bool read = true;
    switch (class->other) {
    case CTF_ENTRY: read = read_entry(payload, message); break;
    case CTF_STACK: read = read_stack(reader, payload, message); break;
    case CTF_BEGAN: read = read_process(payload, message); break;
    case CTF_ENDED: read = read_end(payload, message); break;
    default: break;
    }
    return read ? class->other : CTF_MALFORMED;
}
