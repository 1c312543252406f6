#include "ctf_internal.h"

#include <string.h>

static void identify(position *position, const bt_stream *stream) {
    bt_uuid uuid = bt_trace_get_uuid(bt_stream_borrow_trace_const(stream));
    if (uuid != NULL) { memcpy(position->trace, uuid, sizeof position->trace); }
    position->stream = stream;
    position->class = bt_stream_class_get_id(bt_stream_borrow_class_const(stream));
    position->number = bt_stream_get_id(stream);
}

// Null if there are too many streams.
static position *position_of(ctf_reader *reader, const bt_stream *stream) {
    ctf_positions *all = reader->positions;
    if (reader->last_position < all->count && all->of[reader->last_position].stream == stream) {
        return &all->of[reader->last_position];
    }
    for (size_t index = 0; index < all->count; index++) {
        if (all->of[index].stream != stream) { continue; }
        reader->last_position = index;
        return &all->of[index];
    }
    if (all->count == POSITIONS_MAXIMUM) { return NULL; }
    position *added = &all->of[all->count];
    memset(added, 0, sizeof *added);
    identify(added, stream);
    reader->last_position = all->count++;
    return added;
}

// The position of another reader in the same stream; null if it never read the stream.
static const position *mark_of(const ctf_reader *reader, const position *position) {
    for (size_t index = 0; index < reader->marks->count; index++) {
        const struct position *mark = &reader->marks->of[index];
        if (mark->class == position->class && mark->number == position->number
            && memcmp(mark->trace, position->trace, sizeof mark->trace) == 0) {
            return mark;
        }
    }
    return NULL;
}

void ctf_begin_packet(ctf_reader *reader, const bt_packet *packet) {
    position *position = position_of(reader, bt_packet_borrow_stream_const(packet));
    const bt_field *context = bt_packet_borrow_context_field_const(packet);
    if (position == NULL) { return; }
    const bt_field *number =
        context == NULL ? NULL : bt_field_structure_borrow_member_field_by_name_const(context, "packet_seq_num");
    // Packets without numbers are counted.
    if (number == NULL || !ctf_read_number(number, &position->packet)) { position->packet++; }
    position->message = 0;
}

bool ctf_was_handed_out(ctf_reader *reader, const bt_stream *stream) {
    position *position = position_of(reader, stream);
    if (position == NULL) { return false; }
    position->message++;
    if (reader->marks == NULL) { return false; }
    const struct position *mark = mark_of(reader, position);
    if (mark == NULL || position->packet > mark->packet) { return false; }
    return position->packet < mark->packet || position->message <= mark->message;
}
