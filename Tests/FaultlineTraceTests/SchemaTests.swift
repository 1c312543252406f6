import CTraceSchema
import Testing
import TraceFixtures

@testable import FaultlineTrace

/// Returns the values in an event's record, by the names of its fields.
private func values(of detail: TraceEvent.Detail) -> [String: UInt64] {
    let schema = fl_schema(UInt32(detail.kind.rawValue)).pointee
    return detail.withRecord { record, _ in
        Dictionary(
            uniqueKeysWithValues: (0..<Int(schema.fieldCount)).map {
                (String(cString: schema.fields[$0].name), fl_field_get(schema.fields + $0, record))
            })
    }
}

@Suite("The schema and the event types")
struct SchemaTests {
    @Test("agree on every kind's name", arguments: EventKind.allCases)
    func names(kind: EventKind) {
        #expect(EventKind(name: kind.name) == kind)
        #expect(fl_event_kind_named(kind.name, kind.name.utf8.count).rawValue == UInt32(kind.rawValue))
    }

    @Test("know the same kinds")
    func sameKinds() {
        #expect(EventKind.allCases.count == Int(fl_event_kind.FL_EVENT_KIND_END.rawValue) - 1)
        #expect(EventKind(name: "nonsense") == nil)
        #expect(fl_schema(0) == nil)
        #expect(fl_schema(200) == nil)
    }

    @Test("convert every field of a kind from the record to the event and back", arguments: EventKind.allCases)
    func everyField(kind: EventKind) throws {
        let (event, fields) = TraceEvent.filled(kind)
        #expect(event.kind == kind)
        #expect(values(of: event.detail) == fields)
    }

    @Test("convert the words of every list from the record to the event and back", arguments: EventKind.allCases)
    func everyList(kind: EventKind) {
        let (event, _) = TraceEvent.filled(kind)
        let count = EventSchema.of(kind).lists.reduce(0) { $0 + $1.words.count }
        event.detail.withRecord { _, words in #expect(words == (0..<count).map { UInt64($0 + 1) }) }
    }

    @Test("describe every kind, field, list, entry and word in sentences", arguments: EventKind.allCases)
    func descriptions(kind: EventKind) {
        let schema = EventSchema.of(kind)
        let words = schema.lists.flatMap(\.words)
        let texts = [schema.summary] + (schema.fields + words).map(\.summary) + schema.lists.map(\.summary)
        for text in texts + EventSchema.common.map(\.summary) {
            #expect(text.count > 5 && text.hasSuffix(".") && text.first?.isUppercase == true, "\(text)")
        }
    }

    @Test("have another layout if a field moves or changes its name", arguments: EventKind.allCases)
    func layout(kind: EventKind) {
        var schema = fl_schema(UInt32(kind.rawValue)).pointee
        let declared = fl_record_layout(&schema, 1)
        var fields = Array(UnsafeBufferPointer(start: schema.fields, count: Int(schema.fieldCount)))
        func layout() -> UInt32 {
            fields.withUnsafeBufferPointer {
                schema.fields = $0.baseAddress
                return fl_record_layout(&schema, 1)
            }
        }
        #expect(layout() == declared)
        fields[0].offset += 8
        #expect(layout() != declared)
        fields[0].offset -= 8
        fields[0].name = fl_dictionary_name(fl_dictionary_kind.FL_DICTIONARY_CALIBRATION.rawValue)
        #expect(layout() != declared)
        schema.fieldCount -= 1
        #expect(layout() != declared)
    }

    @Test("convert the common fields")
    func commonFields() throws {
        let record = UnsafeMutablePointer<fl_event>.allocate(capacity: 1)
        defer { record.deallocate() }
        record.initialize(to: fl_event())
        var count: UInt32 = 0
        let fields = try #require(fl_common_fields(&count))
        for index in 0..<Int(count) { fl_field_set(fields + index, &record.pointee.header, UInt64(100 + index)) }
        record.pointee.header.kind = EventKind.scope.rawValue
        record.pointee.header.flags = UInt8(FL_ON_MAIN_THREAD)
        record.pointee.header.thread = 7
        record.pointee.process = 8
        let event = try #require(TraceEvent(UnsafePointer(record)))
        let carried = [
            event.id, event.parent, event.scope, event.start, event.duration, event.runDelay, UInt64(event.context),
            UInt64(event.site), UInt64(event.stack), UInt64(event.overhead),
        ]
        #expect(carried == (0..<UInt64(count)).map { 100 + $0 })
        #expect(event.isMainThread && event.thread == 7 && event.process == 8)
    }

    @Test("stop at the end of a record whose lists are truncated")
    func cutLists() throws {
        let record = UnsafeMutablePointer<fl_event>.allocate(capacity: 1)
        defer { record.deallocate() }
        record.initialize(to: fl_event())
        record.pointee.header.kind = EventKind.use.rawValue
        record.pointee.fields.use.runs = 1_000_000
        record.pointee.fields.use.windows = 5
        record.pointee.listWords = 5
        guard case .use(let use)? = TraceEvent(UnsafePointer(record))?.detail else {
            Issue.record("no summary was read")
            return
        }
        #expect(use.runs.count == 2 && use.windows.isEmpty && use.properties.isEmpty)
    }

    @Test("convert the words of enumerations in both directions, and reject all others")
    func words() {
        for enumeration in 0..<9 as Range<UInt32> {
            var value: UInt64 = 0
            while let word = fl_enumeration_word(enumeration, value).map({ String(cString: $0) }) {
                #expect(fl_enumeration_value(enumeration, word, word.utf8.count) == Int64(value))
                value += 1
            }
            #expect(value > 1)
            #expect(fl_enumeration_value(enumeration, "nonsense", 8) == -1)
        }
        #expect(fl_enumeration_word(99, 0) == nil)
    }
}
