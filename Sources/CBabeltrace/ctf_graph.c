#include "ctf_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: - Errors

// Takes the innermost cause of libbabeltrace2's current error, in one line; false if there is no error.
//
// A damaged trace can leave an error although a call succeeded. The next call would then end the program, so this is
// called after each.
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

// MARK: - The sink that receives messages

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
        // The muxer adds an input port for each connection.
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

static const bt_component_class_source *source;
static const bt_component_class_filter *muxer_kind;

bool ctf_find_plugins(void) {
    if (source == NULL) { source = source_class(); }
    if (muxer_kind == NULL) { muxer_kind = muxer_class(); }
    return source != NULL && muxer_kind != NULL;
}

ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, ctf_positions *positions, char *problem, size_t room
) {
    if (!ctf_find_plugins()) {
        snprintf(problem, room, "the plugins of babeltrace2 are not installed");
        return NULL;
    }
    ctf_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        snprintf(problem, room, "there is not enough memory");
        return NULL;
    }
    reader->names_only = names_only;
    reader->positions = positions;
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

// MARK: - Reading

const bt_message *ctf_advance(ctf_reader *reader, ctf_kind *failure) {
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
