import CSymbolFixture
import FaultlineReader
import FaultlineTrace
import Testing

@Suite("Call sites are resolved from real stacks")
struct CallSiteIntegrationTests {
    /// Returns the call site of an event whose stack has these addresses in this process.
    private func site(_ addresses: [UInt64]) -> CallSite? {
        var dictionary = TraceDictionary()
        dictionary.insert(
            .entity(EntityEntry(name: "Item", properties: [.init(name: "amount", type: "Integer 64")])), id: 1)
        dictionary.insert(.stack(StackEntry(frames: addresses.map(RunningModules.hexadecimal))), id: 2)
        let frames = SymbolResolver().frames(for: addresses, modules: RunningModules.all())
        for (index, frame) in frames.enumerated() { dictionary.insert(.frame(frame), id: DictionaryID(index + 10)) }
        var resolver = CallSiteResolver(dictionary: dictionary)
        return resolver.stackSite(of: TraceEvent(stack: 2, .fault(.init())))
    }

    private func compare(_ address: UInt64, line: Int, function: String, location: SourceLocation = #_sourceLocation) {
        let site = site([address])
        #expect(site == CallSite(file: #fileID, line: line), sourceLocation: location)
        #expect(site?.function == function, sourceLocation: location)
    }

    @Test("Functions, closures, generic functions and initializers are found at their lines")
    func kinds() {
        let made = Fixture(start: 5)
        compare(made.address, line: Fixture.initLine, function: "init(start:)")
        compare(made.plain(), line: Fixture.plainLine, function: "plain()")
        compare(made.closure(), line: Fixture.closureLine, function: "closure()")
        compare(made.generic(of: 5, "x"), line: Fixture.genericLine, function: "generic(of:_:)")
        compare(made.computed, line: Fixture.computedLine, function: "computed")
    }

    @Test("An asynchronous function is found after a suspension")
    func asynchronous() async {
        let made = Fixture(start: 5)
        let address = await made.later()
        compare(address, line: Fixture.laterLine, function: "later()")
    }

    @Test("An accessor of a model's property is skipped in favour of its caller")
    func accessor() {
        let made = Fixture(start: 5)
        #expect(site([made.amount]) == nil)
        #expect(site([made.amount, made.plain()]) == CallSite(file: #fileID, line: Fixture.plainLine))
    }
}

/// Functions that return an address within themselves, each preceded by the line number to expect.
struct Fixture {
    static let initLine = #line + 5
    var address: UInt64

    @inline(never)
    init(start: UInt64) {
        address = fixture_keep(fixture_caller(), 1)
    }

    static let plainLine = #line + 3
    @inline(never)
    func plain() -> UInt64 {
        fixture_keep(fixture_caller(), 2)
    }

    static let closureLine = #line + 4
    @inline(never)
    func closure() -> UInt64 {
        [address].map { _ in
            fixture_keep(fixture_caller(), 3)
        }[0]
    }

    static let genericLine = #line + 3
    @inline(never)
    func generic<Value>(of number: UInt64, _ value: Value) -> UInt64 {
        fixture_keep(fixture_caller(), 4)
    }

    static let computedLine = #line + 2
    var computed: UInt64 {
        fixture_keep(fixture_caller(), 5)
    }

    /// Has the same name as a property of the model.
    var amount: UInt64 {
        @inline(never) get { fixture_keep(fixture_caller(), 6) }
    }

    static let laterLine = #line + 4
    @inline(never)
    func later() async -> UInt64 {
        await Task.yield()
        return fixture_keep(fixture_caller(), 7)
    }
}
