#include "ctf_internal.h"

#include <stdlib.h>
#include <string.h>

#define PROVIDER "faultline:"
#define DICTIONARY "faultline_dictionary:"
#define STATEDUMP "faultline_statedump:"

static const fl_field *find_field(const fl_field *fields, uint32_t count, const char *name) {
    for (uint32_t index = 0; index < count; index++) {
        if (strcmp(fields[index].name, name) == 0) { return &fields[index]; }
    }
    return NULL;
}

static member member_at(size_t offset, size_t width) {
    return (member) {.offset = (uint16_t)offset, .width = (uint8_t)width, .limit = fl_largest_number};
}

static member member_of(const fl_field *field, size_t offset) {
    member member = member_at(offset + field->offset, field->width);
    // A hash may be any number.
    if (field->meaning == FL_HASH) { member.limit = UINT64_MAX; }
    return member;
}

static member describe_member(const bt_field_class_structure_member *given, const fl_event_schema *schema) {
    const char *name = bt_field_class_structure_member_get_name(given);
    const bt_field_class *class = bt_field_class_structure_member_borrow_field_class_const(given);
    uint32_t common_count = 0;
    const fl_field *common = fl_common_fields(&common_count);
    const fl_field *own = find_field(schema->fields, schema->fieldCount, name);
    const fl_field *shared = find_field(common, common_count, name);
    member found = {0};
    if (own != NULL) {
        found = member_of(own, offsetof(fl_event, fields));
    } else if (shared != NULL) {
        found = member_of(shared, offsetof(fl_event, header));
    } else if (strcmp(name, "process") == 0) {
        found = member_at(offsetof(fl_event, process), sizeof(uint32_t));
    } else if (strcmp(name, "thread") == 0) {
        found = member_at(offsetof(fl_event, header.thread), sizeof(uint32_t));
    } else if (strcmp(name, "flags") == 0) {
        found = member_at(offsetof(fl_event, header.flags), sizeof(uint8_t));
    } else if (strcmp(name, "lists") == 0) {
        found.is_lists = true;
    }
    found.type = bt_field_class_get_type(class);
    found.is_unsigned = bt_field_class_type_is(found.type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
    return found;
}

static void describe_members(event_class *entry, const fl_event_schema *schema) {
    const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(entry->class);
    if (payload == NULL || bt_field_class_get_type(payload) != BT_FIELD_CLASS_TYPE_STRUCTURE) { return; }
    uint64_t count = bt_field_class_structure_get_member_count(payload);
    if (count > FIELDS_MAXIMUM) { count = FIELDS_MAXIMUM; }
    for (uint64_t index = 0; index < count; index++) {
        member *member = &entry->members[entry->member_count];
        *member = describe_member(bt_field_class_structure_borrow_member_by_index_const(payload, index), schema);
        member->index = (uint32_t)index;
        // Unknown members are skipped.
        if (member->width > 0 || member->is_lists) { entry->member_count++; }
    }
}

const char *ctf_name_of_entry(const char *name, bool *is_statedump) {
    *is_statedump = strncmp(name, STATEDUMP, strlen(STATEDUMP)) == 0;
    if (*is_statedump) { return name + strlen(STATEDUMP); }
    return strncmp(name, DICTIONARY, strlen(DICTIONARY)) == 0 ? name + strlen(DICTIONARY) : NULL;
}

static void describe_class(event_class *entry) {
    const char *name = bt_event_class_get_name(entry->class);
    entry->kind = FL_EVENT_NONE;
    entry->other = CTF_FOREIGN;
    if (name == NULL) { return; }
    if (strncmp(name, PROVIDER, strlen(PROVIDER)) == 0) {
        const char *kind = name + strlen(PROVIDER);
        entry->kind = fl_event_kind_named(kind, strlen(kind));
        if (entry->kind != FL_EVENT_NONE) { describe_members(entry, fl_schema(entry->kind)); }
        return;
    }
    const char *what = ctf_name_of_entry(name, &entry->is_statedump);
    if (what == NULL) { return; }
    if (strcmp(what, "entry") == 0) { entry->other = CTF_ENTRY; }
    if (strcmp(what, "stack") == 0) { entry->other = CTF_STACK; }
    if (strcmp(what, "process") == 0) { entry->other = CTF_BEGAN; }
    if (strcmp(what, "end") == 0) { entry->other = CTF_ENDED; }
}

const event_class *ctf_class_of(ctf_reader *reader, const bt_event_class *class) {
    if (reader->last != NULL && reader->last->class == class) { return reader->last; }
    for (size_t index = 0; index < reader->class_count; index++) {
        if (reader->classes[index].class == class) { return reader->last = &reader->classes[index]; }
    }
    event_class *grown = realloc(reader->classes, (reader->class_count + 1) * sizeof *grown);
    if (grown == NULL) { return NULL; }
    reader->classes = grown;
    reader->last = &grown[reader->class_count++];
    memset(reader->last, 0, sizeof *reader->last);
    reader->last->class = class;
    describe_class(reader->last);
    return reader->last;
}
