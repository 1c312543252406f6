import CTraceSchema
import FaultlineReader
import FaultlineTrace
import Testing

@Suite("Every field of the schema round-trips through a timeline")
struct SchemaRoundTripTests {
    @Test("A line with a distinct value in every field gives an event with those values", arguments: EventKind.allCases)
    func everyField(kind: EventKind) throws {
        let line = SchemaLine(kind)
        let file = try TraceFile(Lines.timeline([Lines.began(), line.json]))
        let reading = try file.read()
        let event = try #require(reading.events.first)
        #expect(reading.summary.malformedLines == 0)
        #expect(reading.summary.unknownKeys == 0)
        #expect(event.kind == kind)
        #expect(event.isMainThread)
        #expect(event.process == 1)
        #expect(event.thread == 77)
        var common = numbers(in: event)
        for (name, value) in line.common { #expect(common[name] == value, "\(kind.name).\(name)") }
        common.removeAll()
        let own = numbers(in: detail(of: event))
        for (name, value) in line.own { #expect(own[name] == value, "\(kind.name).\(name)") }
        #expect(Set(own.keys) == Set(line.own.keys), "the vocabulary has the schema's fields and no others")
    }

    @Test("The order of an event's keys does not matter", arguments: EventKind.allCases)
    func anyOrder(kind: EventKind) throws {
        let line = SchemaLine(kind)
        let file = try TraceFile(Lines.timeline([Lines.began(), line.json, line.reversed]))
        let events = try file.read().events
        try #require(events.count == 2)
        #expect(events[0] == events[1])
    }

    @Test("Missing fields are zero", arguments: EventKind.allCases)
    func zeroFields(kind: EventKind) throws {
        let line =
            #"{"name":"x","cat":"\#(kind.name)","ph":"X","ts":0.000,"dur":0.000,"pid":1,"tid":2,"args":{"id":3}}"#
        let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
        #expect(numbers(in: detail(of: event)).values.allSatisfy { $0 == 0 })
        #expect(!event.isMainThread)
    }

    @Test("Every word of every enumeration is read", arguments: EventKind.allCases)
    func everyWord(kind: EventKind) throws {
        for field in SchemaLine.fields(of: kind) where field.meaning == UInt8(fl_field_meaning.FL_ENUMERATION.rawValue)
        {
            let name = String(cString: field.name)
            var value: UInt64 = 0
            while let word = fl_enumeration_word(field.detail, value) {
                let line =
                    #"{"cat":"\#(kind.name)","ph":"X","ts":0,"pid":1,"tid":2,"args":{"id":3,"\#(name)":"\#(String(cString: word))"}}"#
                let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
                #expect(numbers(in: detail(of: event))[name] == value)
                value += 1
            }
            #expect(value > 1)
        }
    }

    @Test("Lists are read regardless of the order in the line")
    func lists() throws {
        let lists = [
            #""runs":[[0,50],[60,3]]"#, #""windows":[[2,15,4],[0,9,1]]"#, #""properties":[[1,20,30,400,5]]"#,
        ]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let text = order.map { lists[$0] }.joined(separator: ",")
            let line = #"{"cat":"use","ph":"i","ts":5.000,"pid":1,"tid":2,"args":{"id":3,\#(text)}}"#
            let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
            guard case .use(let use) = event.detail else { continue }
            #expect(use.runs == [.init(first: 0, rows: 50), .init(first: 60, rows: 3)])
            #expect(
                use.windows == [
                    .init(scopeKind: .screen, rows: 15, times: 4), .init(scopeKind: nil, rows: 9, times: 1),
                ])
            #expect(use.properties == [.init(index: 1, rowsRead: 20, rowsLoaded: 30, bytes: 400, largeRows: 5)])
        }
        let save =
            #"{"cat":"save","ph":"X","ts":5,"dur":1,"pid":1,"tid":2,"args":{"id":3,"entities":[[7,1,2,3],[8,4,5,6]]}}"#
        let event = try #require(try TraceFile(Lines.timeline([Lines.began(), save])).read().events.first)
        guard case .save(let fields) = event.detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(
            fields.entities == [
                .init(entity: 7, inserted: 1, updated: 2, deleted: 3),
                .init(entity: 8, inserted: 4, updated: 5, deleted: 6),
            ])
    }

    @Test("A shape has its terms, or nil if its recorder did not know them")
    func terms() throws {
        let shape =
            #""entity":"Item","predicate":"name LIKE[c] ?","sort":[],"prefetch":[],"isLimited":false,"resultType":"objects""#
        let term =
            #"{"keyPath":"name","operation":"LIKE","operand":"value","options":"c","wildcards":"leading","isNegated":true}"#
        let lines = [
            Lines.began(), Lines.entry("shape", id: 1, "{\(shape)}"),
            Lines.entry("shape", id: 2, #"{\#(shape),"terms":[]}"#),
            Lines.entry("shape", id: 3, #"{\#(shape),"terms":[\#(term)]}"#),
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.summary.malformedLines == 0)
        let shapes = (1...3).map { reading.dictionary(of: 1).shape($0) }
        #expect(shapes.map { $0?.predicate } == Array(repeating: "name LIKE[c] ?", count: 3))
        let expected = ShapeEntry.Term(
            keyPath: "name", operation: "LIKE", options: "c", wildcards: "leading", isNegated: true)
        #expect(shapes.map { $0?.terms } == [nil, [], [expected]])
    }

    @Test("The values of a fetch's terms are read as exact numbers")
    func operands() throws {
        let line =
            #"{"cat":"fetch","ph":"X","ts":5,"dur":1,"pid":1,"tid":2,"args":{"id":3,"operands":[[9007199254740991],[0]]}}"#
        let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
        guard case .fetch(let fetch) = event.detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(fetch.operands == [9_007_199_254_740_991, 0])
    }

    // MARK: - Values by name

    /// Returns the associated value of an event's kind.
    private func detail(of event: TraceEvent) -> Any {
        Mirror(reflecting: event.detail).children.first?.value ?? event.detail
    }

    /// Returns the fields of a value by name, as numbers; a list counts as its length.
    private func numbers(in value: Any) -> [String: UInt64] {
        var numbers: [String: UInt64] = [:]
        for child in Mirror(reflecting: value).children {
            guard let label = child.label else { continue }
            switch child.value {
            case let number as UInt64: numbers[label] = number
            case let number as UInt32: numbers[label] = UInt64(number)
            case let flag as Bool: numbers[label] = flag ? 1 : 0
            case let word as any RawRepresentable<UInt32>: numbers[label] = UInt64(word.rawValue)
            case let list as [Any]: numbers[label] = UInt64(list.count)
            default: break
            }
        }
        return numbers
    }
}
