#include "ctf_reader.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAXIMUM 64
#define PROVIDER "faultline:"
#define DICTIONARY "faultline_dictionary:"
#define STATEDUMP "faultline_statedump:"

// What a member of a payload is for.
typedef struct member {
    const fl_field *field;   // null: one of those below, or none that is known
    bool is_common;
    uint8_t place;           // one of the places below
} member;

enum { PLACE_NONE, PLACE_PROCESS, PLACE_THREAD, PLACE_FLAGS, PLACE_LISTS };

// What is known of an event class. Looked up by its address: each trace has classes of its own.
typedef struct event_class {
    const bt_event_class *class;
    uint32_t kind;           // fl_event_kind; FL_EVENT_NONE: no event of the schema
    ctf_kind other;          // then what it is
    uint32_t member_count;
    member members[FIELDS_MAXIMUM];
} event_class;

struct ctf_reader {
    bt_graph *graph;
    bt_message_array_const messages;
    uint64_t message_count, message_index;
    bool has_ended;
    bool names_only;
    bt_message_iterator *iterator;
    event_class *classes;
    size_t class_count;
    event_class *last;       // events come in runs of one class
    uint64_t *frames;
    char problem[1024];
};

// MARK: - Errors

// The innermost cause that libbabeltrace2 tells of, in one line; false if it tells of none.
//
// A damaged trace can make it note an error although a call succeeded. The next call would then end the program, so
// this is asked after each.
static bool take_problem(char *out, size_t room) {
    const bt_error *error = bt_current_thread_take_error();
    if (error == NULL) { return false; }
    snprintf(out, room, "it cannot be read");
    if (bt_error_get_cause_count(error) > 0) {
        const bt_error_cause *cause = bt_error_borrow_cause_by_index(error, 0);
        snprintf(out, room, "%s", bt_error_cause_get_message(cause));
        for (char *place = out; *place != 0; place++) {
            if (*place == '\n') { *place = ' '; }
        }
    }
    bt_error_release(error);
    return true;
}

// MARK: - The sink that hands messages out

static bt_graph_simple_sink_component_initialize_func_status begin(bt_message_iterator *iterator, void *data) {
    ctf_reader *reader = data;
    reader->iterator = iterator;
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *iterator, void *data) {
    ctf_reader *reader = data;
    reader->message_index = 0;
    reader->message_count = 0;
    switch (bt_message_iterator_next(iterator, &reader->messages, &reader->message_count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK: return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END: return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN: return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_MEMORY_ERROR;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR: break;
    }
    return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
}

// MARK: - The graph

static const bt_component_class_source *source_class(void) {
    const bt_plugin *plugin = NULL;
    if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK) {
        return NULL;
    }
    return bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
}

static const bt_component_class_filter *muxer_class(void) {
    const bt_plugin *plugin = NULL;
    if (bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK) {
        return NULL;
    }
    return bt_plugin_borrow_filter_component_class_by_name_const(plugin, "muxer");
}

static bool add_source(
    bt_graph *graph, const bt_component_class_source *class, size_t number, const char *directory,
    const bt_component_filter *muxer
) {
    bt_value *parameters = bt_value_map_create(), *inputs = NULL;
    const bt_component_source *source = NULL;
    char name[32];
    snprintf(name, sizeof name, "source%zu", number);
    bool added = parameters != NULL
        && bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) == BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK
        && bt_value_array_append_string_element(inputs, directory) == BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK
        && bt_graph_add_source_component(graph, class, name, parameters, BT_LOGGING_LEVEL_NONE, &source)
            == BT_GRAPH_ADD_COMPONENT_STATUS_OK;
    if (parameters != NULL) { bt_value_put_ref(parameters); }
    if (!added) { return false; }
    uint64_t ports = bt_component_source_get_output_port_count(source);
    for (uint64_t port = 0; port < ports; port++) {
        // The muxer adds a port for each connection.
        uint64_t last = bt_component_filter_get_input_port_count(muxer) - 1;
        if (bt_graph_connect_ports(
                graph, bt_component_source_borrow_output_port_by_index_const(source, port),
                bt_component_filter_borrow_input_port_by_index_const(muxer, last), NULL)
            != BT_GRAPH_CONNECT_PORTS_STATUS_OK) {
            return false;
        }
    }
    return true;
}

ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, char *problem, size_t room
) {
    const bt_component_class_source *source = source_class();
    const bt_component_class_filter *muxer_kind = muxer_class();
    if (source == NULL || muxer_kind == NULL) {
        snprintf(problem, room, "the plugins of babeltrace2 are not installed");
        return NULL;
    }
    ctf_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        snprintf(problem, room, "there is no memory");
        return NULL;
    }
    reader->names_only = names_only;
    const bt_component_filter *muxer = NULL;
    const bt_component_sink *sink = NULL;
    reader->graph = bt_graph_create(0);
    bool ready = reader->graph != NULL
        && bt_graph_add_filter_component(reader->graph, muxer_kind, "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer)
            == BT_GRAPH_ADD_COMPONENT_STATUS_OK;
    for (size_t index = 0; ready && index < count; index++) {
        ready = add_source(reader->graph, source, index, directories[index], muxer);
    }
    ready = ready
        && bt_graph_add_simple_sink_component(reader->graph, "faultline", begin, consume, NULL, reader, &sink)
            == BT_GRAPH_ADD_COMPONENT_STATUS_OK
        && bt_graph_connect_ports(
               reader->graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
               bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL)
            == BT_GRAPH_CONNECT_PORTS_STATUS_OK;
    snprintf(problem, room, "it cannot be read");
    if (take_problem(problem, room) || !ready) {
        ctf_close(reader);
        return NULL;
    }
    return reader;
}

static void drop_messages(ctf_reader *reader) {
    while (reader->message_index < reader->message_count) {
        bt_message_put_ref(reader->messages[reader->message_index++]);
    }
}

void ctf_close(ctf_reader *reader) {
    drop_messages(reader);
    if (reader->graph != NULL) { bt_graph_put_ref(reader->graph); }
    free(reader->classes);
    free(reader->frames);
    free(reader);
}

// MARK: - Classes

static const fl_field *find_field(const fl_field *fields, uint32_t count, const char *name) {
    for (uint32_t index = 0; index < count; index++) {
        if (strcmp(fields[index].name, name) == 0) { return &fields[index]; }
    }
    return NULL;
}

static void describe_members(event_class *entry, const fl_event_schema *schema) {
    const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(entry->class);
    if (payload == NULL || bt_field_class_get_type(payload) != BT_FIELD_CLASS_TYPE_STRUCTURE) { return; }
    uint32_t common_count = 0;
    const fl_field *common = fl_common_fields(&common_count);
    uint64_t count = bt_field_class_structure_get_member_count(payload);
    if (count > FIELDS_MAXIMUM) { count = FIELDS_MAXIMUM; }
    for (uint64_t index = 0; index < count; index++) {
        const char *name = bt_field_class_structure_member_get_name(
            bt_field_class_structure_borrow_member_by_index_const(payload, index));
        member *member = &entry->members[index];
        member->field = find_field(schema->fields, schema->fieldCount, name);
        if (member->field != NULL) { continue; }
        member->field = find_field(common, common_count, name);
        member->is_common = member->field != NULL;
        if (strcmp(name, "process") == 0) { member->place = PLACE_PROCESS; }
        if (strcmp(name, "thread") == 0) { member->place = PLACE_THREAD; }
        if (strcmp(name, "flags") == 0) { member->place = PLACE_FLAGS; }
        if (strcmp(name, "lists") == 0) { member->place = PLACE_LISTS; }
    }
    entry->member_count = (uint32_t)count;
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
    const char *what = NULL;
    if (strncmp(name, DICTIONARY, strlen(DICTIONARY)) == 0) { what = name + strlen(DICTIONARY); }
    if (strncmp(name, STATEDUMP, strlen(STATEDUMP)) == 0) { what = name + strlen(STATEDUMP); }
    if (what == NULL) { return; }
    if (strcmp(what, "entry") == 0) { entry->other = CTF_ENTRY; }
    if (strcmp(what, "stack") == 0) { entry->other = CTF_STACK; }
    if (strcmp(what, "process") == 0) { entry->other = CTF_BEGAN; }
    if (strcmp(what, "end") == 0) { entry->other = CTF_ENDED; }
}

static event_class *class_of(ctf_reader *reader, const bt_event_class *class) {
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

// MARK: - Values

static bool read_number(const bt_field *field, uint64_t *number) {
    switch (bt_field_get_class_type(field)) {
    case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
    case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION: *number = bt_field_integer_unsigned_get_value(field); return true;
    case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
    case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION: {
        int64_t value = bt_field_integer_signed_get_value(field);
        *number = (uint64_t)value;
        return value >= 0;
    }
    default: return false;
    }
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
        if (!read_number(bt_field_array_borrow_element_field_by_index_const(field, index), &numbers[index])) { return false; }
    }
    *count = (uint32_t)length;
    return true;
}

static const bt_field *member_named(const bt_field *payload, const char *name) {
    return bt_field_structure_borrow_member_field_by_name_const(payload, name);
}

static bool number_named(const bt_field *payload, const char *name, uint64_t *number) {
    const bt_field *field = member_named(payload, name);
    return field != NULL && read_number(field, number) && *number <= fl_largest_number;
}

static bool text_named(const bt_field *payload, const char *name, const char **text, size_t *length) {
    const bt_field *field = member_named(payload, name);
    if (field == NULL || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING) { return false; }
    *text = bt_field_string_get_value(field);
    *length = bt_field_string_get_length(field);
    return true;
}

// MARK: - Messages

static bool read_event(const event_class *class, const bt_field *payload, fl_event *event) {
    // The lists are read as far as they go.
    memset(event, 0, offsetof(fl_event, lists));
    event->header.kind = (uint8_t)class->kind;
    for (uint32_t index = 0; index < class->member_count; index++) {
        const member *member = &class->members[index];
        if (member->field == NULL && member->place == PLACE_NONE) { continue; }
        const bt_field *field = bt_field_structure_borrow_member_field_by_index_const(payload, index);
        uint64_t number = 0;
        if (member->place == PLACE_LISTS) {
            if (!read_numbers(field, event->lists, FL_MAXIMUM_LIST_WORDS, &event->listWords)) { return false; }
            for (uint32_t word = 0; word < event->listWords; word++) {
                if (event->lists[word] > fl_largest_number) { return false; }
            }
            continue;
        }
        if (!read_number(field, &number)) { return false; }
        bool is_hash = member->field != NULL && member->field->meaning == FL_HASH;
        if (number > fl_largest_number && !is_hash) { return false; }
        if (member->field != NULL) {
            fl_field_set(member->field, member->is_common ? (void *)&event->header : fl_event_fields_mutable(event), number);
        } else if (member->place == PLACE_PROCESS) {
            event->process = (uint32_t)number;
        } else if (member->place == PLACE_THREAD) {
            event->header.thread = (uint32_t)number;
        } else {
            event->header.flags = (uint8_t)number;
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
    uint64_t process = 0, version = 0;
    const bt_field *date = member_named(payload, "date");
    if (!number_named(payload, "process", &process) || !number_named(payload, "version", &version)
        || !number_named(payload, "start", &message->start) || !number_named(payload, "origin", &message->origin)
        || !text_named(payload, "program", &message->text, &message->length)) {
        return false;
    }
    message->process = (uint32_t)process;
    message->version = (uint32_t)version;
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

static ctf_kind read_message(ctf_reader *reader, const bt_event *event, ctf_message *message) {
    const event_class *class = class_of(reader, bt_event_borrow_class_const(event));
    const bt_field *payload = bt_event_borrow_payload_field_const(event);
    if (class == NULL || payload == NULL) { return CTF_MALFORMED; }
    if (class->kind != FL_EVENT_NONE) {
        if (reader->names_only) { return CTF_PASSED_OVER; }
        return read_event(class, payload, &message->event) ? CTF_EVENT : CTF_MALFORMED;
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

// Whether a stream holds nothing but dictionary entries.
static bool is_of_dictionary(const bt_stream *stream) {
    const bt_stream_class *class = bt_stream_borrow_class_const(stream);
    uint64_t count = bt_stream_class_get_event_class_count(class);
    for (uint64_t index = 0; index < count; index++) {
        const char *name = bt_event_class_get_name(bt_stream_class_borrow_event_class_by_index_const(class, index));
        if (name == NULL) { return false; }
        if (strncmp(name, DICTIONARY, strlen(DICTIONARY)) != 0 && strncmp(name, STATEDUMP, strlen(STATEDUMP)) != 0) {
            return false;
        }
    }
    return count > 0;
}

static ctf_kind read_loss(const bt_message *next, ctf_message *message) {
    const bt_stream *stream;
    message->lost = message->lost_packets = 0;
    if (bt_message_get_type(next) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
        stream = bt_message_discarded_events_borrow_stream_const(next);
        // Some were lost, and nobody knows how many: that is one at least.
        if (bt_message_discarded_events_get_count(next, &message->lost) != BT_PROPERTY_AVAILABILITY_AVAILABLE) {
            message->lost = 1;
        }
    } else {
        stream = bt_message_discarded_packets_borrow_stream_const(next);
        if (bt_message_discarded_packets_get_count(next, &message->lost_packets) != BT_PROPERTY_AVAILABILITY_AVAILABLE) {
            message->lost_packets = 1;
        }
    }
    // A counter that was damaged tells no more than that.
    if (message->lost > fl_largest_number) { message->lost = 1; }
    if (message->lost_packets > fl_largest_number) { message->lost_packets = 1; }
    message->is_of_dictionary = is_of_dictionary(stream);
    return CTF_DISCARDED;
}

// The next one, and the one before given back; null at the end.
static const bt_message *advance(ctf_reader *reader, ctf_kind *failure) {
    if (reader->message_index < reader->message_count) {
        bt_message_put_ref(reader->messages[reader->message_index++]);
    }
    while (reader->message_index == reader->message_count) {
        *failure = CTF_END;
        if (reader->has_ended) { return NULL; }
        bt_graph_run_once_status status = bt_graph_run_once(reader->graph);
        if (status == BT_GRAPH_RUN_ONCE_STATUS_END) { reader->has_ended = true; }
        snprintf(reader->problem, sizeof reader->problem, "it cannot be read");
        if (take_problem(reader->problem, sizeof reader->problem) || status < 0) {
            reader->has_ended = true;
            *failure = CTF_FAILED;
            return NULL;
        }
    }
    return reader->messages[reader->message_index];
}

ctf_kind ctf_next(ctf_reader *reader, ctf_message *message) {
    for (;;) {
        ctf_kind failure = CTF_END;
        const bt_message *next = advance(reader, &failure);
        if (next == NULL) {
            message->text = reader->problem;
            message->length = strlen(reader->problem);
            return message->kind = failure;
        }
        switch (bt_message_get_type(next)) {
        case BT_MESSAGE_TYPE_EVENT:
            message->kind = read_message(reader, bt_message_event_borrow_event_const(next), message);
            break;
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS: message->kind = read_loss(next, message); break;
        default: continue;
        }
        if (message->kind != CTF_PASSED_OVER) { return message->kind; }
    }
}
