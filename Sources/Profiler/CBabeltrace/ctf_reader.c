#include "ctf_internal.h"

#include <string.h>

// Whether a stream contains only dictionary entries.
static bool is_of_dictionary(const bt_stream *stream) {
    const bt_stream_class *class = bt_stream_borrow_class_const(stream);
    uint64_t count = bt_stream_class_get_event_class_count(class);
    for (uint64_t index = 0; index < count; index++) {
        const char *name = bt_event_class_get_name(bt_stream_class_borrow_event_class_by_index_const(class, index));
        bool is_statedump;
        if (name == NULL || ctf_name_of_entry(name, &is_statedump) == NULL) { return false; }
    }
    return count > 0;
}

static const bt_stream *stream_of_loss(const bt_message *message) {
    return bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS
        ? bt_message_discarded_events_borrow_stream_const(message)
        : bt_message_discarded_packets_borrow_stream_const(message);
}

static ctf_kind read_loss(const bt_message *next, ctf_message *message) {
    const bt_stream *stream = stream_of_loss(next);
    message->lost = message->lost_packets = 0;
    if (bt_message_get_type(next) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
        // Some were lost, but the number is unknown: at least one.
        if (bt_message_discarded_events_get_count(next, &message->lost) != BT_PROPERTY_AVAILABILITY_AVAILABLE) {
            message->lost = 1;
        }
    } else {
        if (bt_message_discarded_packets_get_count(next, &message->lost_packets) != BT_PROPERTY_AVAILABILITY_AVAILABLE) {
            message->lost_packets = 1;
        }
    }
    // A damaged counter shows no more than that.
    if (message->lost > fl_largest_number) { message->lost = 1; }
    if (message->lost_packets > fl_largest_number) { message->lost_packets = 1; }
    message->is_of_dictionary = is_of_dictionary(stream);
    return CTF_DISCARDED;
}

// The time of a message in nanoseconds of CLOCK_MONOTONIC, which is LTTng's clock; 0 if it is not known.
static uint64_t time_of(const bt_message *message, const bt_event *event) {
    const bt_stream_class *class = bt_stream_borrow_class_const(bt_event_borrow_stream_const(event));
    if (bt_stream_class_borrow_default_clock_class_const(class) == NULL) { return 0; }
    return bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
}

ctf_kind ctf_next(ctf_reader *reader, ctf_message *message, fl_event *event) {
    for (;;) {
        ctf_kind failure = CTF_END;
        const bt_message *next = ctf_advance(reader, &failure);
        if (next == NULL) {
            message->text = reader->problem;
            message->length = strlen(reader->problem);
            return message->kind = failure;
        }
        switch (bt_message_get_type(next)) {
        case BT_MESSAGE_TYPE_EVENT: {
            const bt_event *given = bt_message_event_borrow_event_const(next);
            if (ctf_was_handed_out(reader, bt_event_borrow_stream_const(given))) { continue; }
            message->kind = ctf_read_event(reader, given, message, event);
            if (message->kind == CTF_BEGAN) { message->received = reader->last->is_statedump ? time_of(next, given) : 0; }
            break;
        }
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
            if (ctf_was_handed_out(reader, stream_of_loss(next))) { continue; }
            message->kind = read_loss(next, message);
            break;
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
            ctf_begin_packet(reader, bt_message_packet_beginning_borrow_packet_const(next));
            continue;
        default: continue;
        }
        if (message->kind != CTF_PASSED_OVER) { return message->kind; }
    }
}
