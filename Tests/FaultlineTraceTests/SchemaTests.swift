import CTraceSchema
import Testing

@testable import FaultlineTrace

/// Fills every field of a record with a number of its own, within what its meaning allows.
private func fill(_ event: UnsafeMutablePointer<fl_event>, kind: EventKind) -> [String: UInt64] {
    var values: [String: UInt64] = [:]
    let schema = fl_schema(UInt32(kind.rawValue)).pointee
    event.pointee.header.kind = kind.rawValue
    var next: UInt64 = 1000
    for index in 0..<Int(schema.fieldCount) {
        let field = schema.fields + index
        next += 1
        var value = next
        switch fl_field_meaning(rawValue: UInt32(field.pointee.meaning)) {
        case .FL_ENUMERATION: value = fl_enumeration_word(field.pointee.detail, 1) == nil ? 0 : 1
        case .FL_FLAG: value = 1
        default: break
        }
        if isListCount(schema, field.pointee) { value = 1 }
        fl_field_set(field, fl_event_fields_mutable(event), value)
        values[String(cString: field.pointee.name)] = value
    }
    return values
}

private func isListCount(_ schema: fl_event_schema, _ field: fl_field) -> Bool {
    (0..<Int(schema.listCount)).contains { schema.lists[$0].countOffset == field.offset }
}

/// The values that a record of the schema holds, by the fields' names.
private func values<Fields>(of fields: Fields, kind: EventKind) -> [String: UInt64] {
    let schema = fl_schema(UInt32(kind.rawValue)).pointee
    return withUnsafeBytes(of: fields) { bytes in
        Dictionary(
            uniqueKeysWithValues: (0..<Int(schema.fieldCount)).map {
                (String(cString: schema.fields[$0].name), fl_field_get(schema.fields + $0, bytes.baseAddress))
            })
    }
}

@Suite("The schema and the vocabulary")
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

    @Test("carry every field of a kind from the record to the event and back", arguments: EventKind.allCases)
    func everyField(kind: EventKind) throws {
        let event = UnsafeMutablePointer<fl_event>.allocate(capacity: 1)
        defer { event.deallocate() }
        event.initialize(to: fl_event())
        let filled = fill(event, kind: kind)
        event.pointee.listWords = UInt32(FL_MAXIMUM_LIST_WORDS)
        let read = try #require(TraceEvent(UnsafePointer(event)))
        #expect(read.kind == kind)
        switch read.detail {
        case .fetch(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .batch(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .fault(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .save(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .sql(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .merge(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .refresh(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .release(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .wait(let detail): #expect(values(of: detail.record, kind: kind) == filled)
        case .cacheMiss(let detail):
            #expect(filled == ["fault": detail.fault, "entity": UInt64(detail.entity), "seenBefore": 1])
            #expect(detail.seenBefore)
        case .scope(let detail):
            let expected = ["name": UInt64(detail.name), "kind": 1, "phase": 1]
            #expect(filled == expected && detail.kind == .screen && detail.phase == .end)
        case .use(let detail):
            let numbers: [String: UInt64] = [
                "fetch": detail.fetch, "bytes": detail.bytes, "firstUse": detail.firstUse, "lastUse": detail.lastUse,
                "entity": UInt64(detail.entity), "shape": UInt64(detail.shape), "state": 1,
                "batchSize": UInt64(detail.batchSize), "rows": UInt64(detail.rows),
                "loadedRows": UInt64(detail.loadedRows), "touchedRows": UInt64(detail.touchedRows),
                "touches": UInt64(detail.touches), "batchesLoaded": UInt64(detail.batchesLoaded),
                "countAsked": UInt64(detail.countAsked), "emptinessAsked": UInt64(detail.emptinessAsked),
                "identitiesAsked": UInt64(detail.identitiesAsked), "modifiedRows": UInt64(detail.modifiedRows),
                "runs": UInt64(detail.runs.count),
                "windows": UInt64(detail.windows.count), "properties": UInt64(detail.properties.count),
                "runsLost": UInt64(detail.runsLost),
            ]
            #expect(filled == numbers && detail.state == .open)
        }
    }

    @Test("carry the common fields")
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

    @Test("stop at the end of a record whose lists are cut short")
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

    @Test("know the words of enumerations in both directions, and no others")
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
