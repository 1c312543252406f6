#include "ctf_internal.h"

#include <stdio.h>
#include <stdlib.h>

// MARK: - A heap of feeds

// Of feeds of the same time, the one that was connected first comes first.
static bool is_before(const ctf_feed *one, const ctf_feed *other) {
    return one->time != other->time ? one->time < other->time : one < other;
}

// Moves the first feed to its place after its time has changed.
static void sift_down(ctf_merge *merge) {
    ctf_feed *moved = merge->heap[0];
    size_t place = 0;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= merge->heap_count) { break; }
        if (child + 1 < merge->heap_count && is_before(merge->heap[child + 1], merge->heap[child])) { child++; }
        if (is_before(moved, merge->heap[child])) { break; }
        merge->heap[place] = merge->heap[child];
        place = child;
    }
    merge->heap[place] = moved;
}

// Only events have a time of their own. Whatever comes between them in a stream is delivered as soon as what came
// before it has been.
static void update_time(ctf_feed *feed) {
    const bt_message *message = feed->messages[feed->index];
    switch (bt_message_get_type(message)) {
    case BT_MESSAGE_TYPE_STREAM_BEGINNING: {
        const bt_stream *stream = bt_message_stream_beginning_borrow_stream_const(message);
        const bt_stream_class *class = bt_stream_borrow_class_const(stream);
        feed->has_clock = bt_stream_class_borrow_default_clock_class_const(class) != NULL;
        return;
    }
    case BT_MESSAGE_TYPE_EVENT:
        if (feed->has_clock) {
            int64_t time;
            const bt_clock_snapshot *clock = bt_message_event_borrow_default_clock_snapshot_const(message);
            if (bt_clock_snapshot_get_ns_from_origin(clock, &time) == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK) {
                feed->time = time;
            } else {
                // Too large a number of nanoseconds. libbabeltrace2 ends a program that calls it with an error pending.
                bt_current_thread_clear_error();
            }
        }
        return;
    default: return;
    }
}

const bt_message *ctf_merge_next(ctf_merge *merge) {
    if (merge->heap_count == 0) { return NULL; }
    ctf_feed *feed = merge->heap[0];
    if (merge->is_delivered) {
        merge->is_delivered = false;
        bt_message_put_ref(feed->messages[feed->index++]);
        if (feed->index < feed->count) {
            update_time(feed);
            sift_down(merge);
            feed = merge->heap[0];
        }
    }
    if (feed->index == feed->count) { return NULL; }
    merge->is_delivered = true;
    return feed->messages[feed->index];
}

// MARK: - The sink that receives messages

// Receives the next messages of the first feed, which has none left.
static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self) {
    ctf_merge *merge = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
    if (merge->heap_count == 0) { return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END; }
    ctf_feed *feed = merge->heap[0];
    feed->index = feed->count = 0;
    switch (bt_message_iterator_next(feed->iterator, &feed->messages, &feed->count)) {
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
        if (feed->count > 0) {
            update_time(feed);
            sift_down(merge);
        }
        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
        merge->heap[0] = merge->heap[--merge->heap_count];
        if (merge->heap_count == 0) { return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END; }
        sift_down(merge);
        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN: return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
    case BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR: break;
    }
    return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

static bt_component_class_initialize_method_status begin(
    bt_self_component_sink *self, bt_self_component_sink_configuration *configuration, const bt_value *parameters,
    void *data
) {
    (void)configuration;
    (void)parameters;
    ctf_merge *merge = data;
    bt_self_component_set_data(bt_self_component_sink_as_self_component(self), merge);
    for (size_t index = 0; index < merge->feed_count; index++) {
        char name[32];
        snprintf(name, sizeof name, "in%zu", index);
        if (bt_self_component_sink_add_input_port(self, name, NULL, NULL)
            != BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
            return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
    }
    return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

// The ports are connected now. Nothing has been read, so each feed comes before any message.
static bt_component_class_sink_graph_is_configured_method_status connect(bt_self_component_sink *self) {
    ctf_merge *merge = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
    for (size_t index = 0; index < merge->feed_count; index++) {
        ctf_feed *feed = &merge->feeds[index];
        *feed = (ctf_feed){.time = INT64_MIN};
        bt_self_component_port_input *port = bt_self_component_sink_borrow_input_port_by_index(self, index);
        if (bt_message_iterator_create_from_sink_component(self, port, &feed->iterator)
            != BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK) {
            return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
        }
        merge->heap[merge->heap_count++] = feed;
    }
    return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

const bt_component_sink *ctf_merge_add(ctf_merge *merge, bt_graph *graph, size_t feed_count) {
    merge->feeds = calloc(feed_count + 1, sizeof *merge->feeds);
    merge->heap = calloc(feed_count + 1, sizeof *merge->heap);
    bt_component_class_sink *class = bt_component_class_sink_create("merge", consume);
    const bt_component_sink *sink = NULL;
    if (merge->feeds != NULL && merge->heap != NULL && class != NULL
        && bt_component_class_sink_set_initialize_method(class, begin) == BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK
        && bt_component_class_sink_set_graph_is_configured_method(class, connect)
            == BT_COMPONENT_CLASS_SET_METHOD_STATUS_OK) {
        merge->feed_count = feed_count;
        if (bt_graph_add_sink_component_with_initialize_method_data(
                graph, class, "faultline", NULL, merge, BT_LOGGING_LEVEL_NONE, &sink)
            != BT_GRAPH_ADD_COMPONENT_STATUS_OK) {
            sink = NULL;
        }
    }
    if (class != NULL) { bt_component_class_sink_put_ref(class); }
    return sink;
}

void ctf_merge_close(ctf_merge *merge) {
    for (size_t index = 0; index < merge->feed_count; index++) {
        ctf_feed *feed = &merge->feeds[index];
        while (feed->index < feed->count) { bt_message_put_ref(feed->messages[feed->index++]); }
        if (feed->iterator != NULL) { bt_message_iterator_put_ref(feed->iterator); }
    }
    free(merge->feeds);
    free(merge->heap);
}
