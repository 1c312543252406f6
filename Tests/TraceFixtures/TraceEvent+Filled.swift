import CTraceSchema
package import FaultlineTrace

extension TraceEvent {
    /// An event in which every field has a different number and every list has one entry, and the numbers by field.
    package static func filled(_ kind: EventKind) -> (event: TraceEvent, fields: [String: UInt64]) {
        let record = UnsafeMutablePointer<fl_event>.allocate(capacity: 1)
        defer { record.deallocate() }
        record.initialize(to: fl_event())
        record.pointee.header.kind = kind.rawValue
        record.pointee.header.id = 900
        var schema = fl_schema(UInt32(kind.rawValue)).pointee
        var fields: [String: UInt64] = [:]
        for index in 0..<Int(schema.fieldCount) {
            let field = schema.fields + index
            var value = UInt64(1001 + index)
            switch fl_field_meaning(rawValue: UInt32(field.pointee.meaning)) {
            case .FL_ENUMERATION: value = fl_enumeration_word(field.pointee.detail, 1) == nil ? 0 : 1
            case .FL_FLAG: value = 1
            default: if fl_counts_list(&schema, field) { value = 1 }
            }
            fl_field_set(field, fl_event_fields_mutable(record), value)
            fields[String(cString: field.pointee.name)] = value
        }
        // The numbers are small enough to be valid for every kind of list.
        let words = (0..<Int(schema.listCount)).reduce(0) { $0 + Int(schema.lists[$1].words) }
        record.pointee.listWords = UInt32(words)
        withUnsafeMutableBytes(of: &record.pointee.lists) { bytes in
            let lists = bytes.bindMemory(to: UInt64.self)
            for word in 0..<words { lists[word] = UInt64(word + 1) }
        }
        return (TraceEvent(UnsafePointer(record))!, fields)
    }
}
