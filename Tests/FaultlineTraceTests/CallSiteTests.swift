import FaultlineTrace
import Testing

@Suite("Call sites are the program's own frames")
struct CallSiteTests {
    /// A frame with one location.
    struct Frame {
        var symbol: String
        var words: String
        var line = 0
        var file = "/src/Groceries/List.swift"
        var module = "App"
    }

    private func resolver(_ frames: [Frame], sites: [DictionaryID: SiteEntry] = [:]) -> CallSiteResolver {
        var dictionary = TraceDictionary()
        dictionary.insert(.entity(EntityEntry(name: "Item", properties: [.init(name: "name", type: "String")])), id: 40)
        for (id, site) in sites { dictionary.insert(.site(site), id: id) }
        for (index, frame) in frames.enumerated() {
            let location = FrameEntry.Location(
                symbol: frame.symbol, function: frame.words, file: frame.file, line: frame.line)
            dictionary.insert(
                .frame(FrameEntry(address: "0x\(index + 1)", module: frame.module, locations: [location])),
                id: DictionaryID(index + 1))
        }
        dictionary.insert(.stack(StackEntry(frames: frames.indices.map { "0x\($0 + 1)" })), id: 50)
        return CallSiteResolver(dictionary: dictionary)
    }

    private let fault = TraceEvent(stack: 50, .fault(.init()))
    private static let program = Frame(
        symbol: "$s9Groceries8showListyyF", words: "Groceries.showList() -> ()", line: 42)

    @Test("A package's own line counts if the program has none, and so does one of a program among checkouts")
    func packages() {
        let package = Frame(
            symbol: "$s4GRDB4stepyyF", words: "GRDB.step() -> ()", line: 7,
            file: "/src/.build/checkouts/GRDB.swift/GRDB/Statement.swift")
        var alone = resolver([package])
        #expect(alone.stackSite(of: fault)?.line == 7)
        let merged = Frame(
            symbol: "$s4GRDB5writeyyFTm", words: "merged GRDB.write() -> ()", line: 0, file: "")
        var mixed = resolver([package, merged, Self.program, merged])
        #expect(mixed.callers(of: fault).map(\.line) == [42])
        var program = Self.program
        program.file = "/home/me/checkouts/Groceries/List.swift"
        var among = resolver([package, program])
        #expect(among.stackSite(of: fault)?.line == 42)
    }

    @Test(
        "Frames that do not belong to the program are skipped",
        arguments: [
            Frame(symbol: "$s14FaultlineStore4fillyyF", words: "FaultlineStore.fill() -> ()", line: 7),
            Frame(symbol: "$s17FaultlineRecorder4fillyyF", words: "FaultlineRecorder.fill() -> ()", line: 7),
            Frame(
                symbol: "$s14FaultlineStore4fillyxxlFSi_Tg5",
                words: "generic specialization <Groceries.Item> of FaultlineStore.fill<A>(A) -> ()",
                line: 7),
            Frame(
                symbol: "$s14FaultlineStore4fillyyFyycfU_", words: "closure #1 () -> () in FaultlineStore.fill() -> ()",
                line: 7),
            Frame(symbol: "fl_begin", words: "fl_begin", line: 7, file: "/src/recorder.c"),
            Frame(symbol: "ftl_parse", words: "ftl_parse", line: 7, file: "/src/parser.cpp"),
            Frame(
                symbol: "$sSa3mapyqd__Gqd__xKXEKlF",
                words: "Swift.Array.map<A>((A) throws -> A) throws -> Swift.Array<A>", line: 7),
            Frame(symbol: "$s10Foundation4DataV", words: "Foundation.Data.init() -> Foundation.Data", line: 7),
            Frame(symbol: "sqlite3_step", words: "sqlite3_step", line: 7, file: "sqlite3.c"),
            Frame(
                symbol: "$s4GRDB4stepyyF", words: "GRDB.step() -> ()", line: 7,
                file: "/src/.build/checkouts/GRDB.swift/GRDB/Statement.swift"),
            Frame(
                symbol: "$s4GRDB4stepyyF", words: "GRDB.step() -> ()", line: 7,
                file: "/Library/DerivedData/App/SourcePackages/checkouts/GRDB.swift/GRDB/Statement.swift"),
            Frame(symbol: "anything", words: "anything", line: 7, module: "libsqlite3.so.0.8.6"),
            Frame(symbol: "_dispatch_call_block", words: "_dispatch_call_block", file: "", module: "libdispatch.so"),
            Frame(symbol: "qsort", words: "qsort", file: "", module: "libc.so.6"),
            Frame(symbol: "$s9Groceries3fooyyF", words: "Groceries.foo() -> ()", line: 0),
            Frame(symbol: "$s9Groceries3fooyyF", words: "Groceries.foo() -> ()", line: 9, file: "<compiler-generated>"),
            Frame(
                symbol: "$s9Groceries3fooyyFTA",
                words: "partial apply forwarder for closure #1 () -> () in Groceries.foo() -> ()",
                line: 9),
            Frame(symbol: "$s9Groceries4ItemC4nameSSvg", words: "Groceries.Item.name.getter : String", line: 9),
            Frame(symbol: "$s9Groceries4ItemC4nameSSvs", words: "Groceries.Item.name.setter : String", line: 9),
            Frame(
                symbol: "$s9Groceries4ItemC4nameSSvM.resume.0",
                words: "Groceries.Item.name.modify : String with unmangled suffix \".resume.0\"", line: 9),
            Frame(
                symbol: "$s9Groceries4ItemC4nameSSvgSSycfU_",
                words: "closure #1 () -> String in Groceries.Item.name.getter : String", line: 9),
        ])
    func skipped(frame: Frame) {
        var resolver = resolver([frame, Self.program])
        #expect(resolver.stackSite(of: fault)?.description == "List.swift:42")
        #expect(resolver.callers(of: fault).count == 1)
    }

    @Test(
        "Frames that only look like others belong to the program",
        arguments: [
            Frame(symbol: "$s9Groceries5titleSSvg", words: "Groceries.Item.title.getter : String", line: 9),
            Frame(symbol: "$s18FaultlineWorkloads3runyyF", words: "FaultlineWorkloads.run() -> ()", line: 9),
            Frame(
                symbol: "$sSa9GroceriesE4mineyyF", words: "(extension in Groceries):Swift.Array.mine() -> ()", line: 9),
            Frame(
                symbol: "$s14FaultlineStore7ContextC9GroceriesE4loadyyF",
                words: "(extension in Groceries):FaultlineStore.Context.load() -> ()", line: 9),
            Frame(symbol: "main", words: "main", line: 9),
            Frame(symbol: "flush_all", words: "flush_all", line: 9, file: "/src/flush.c"),
        ])
    func kept(frame: Frame) {
        var resolver = resolver([frame, Self.program])
        #expect(resolver.stackSite(of: fault)?.line == 9)
        #expect(resolver.callers(of: fault).map(\.line) == [9, 42])
    }

    @Test("An inlined accessor is skipped in favour of the function it was inlined into")
    func inlined() {
        var dictionary = TraceDictionary()
        dictionary.insert(.entity(EntityEntry(name: "Item", properties: [.init(name: "name", type: "String")])), id: 1)
        dictionary.insert(
            .frame(
                FrameEntry(
                    address: "0xa", module: "App",
                    locations: [
                        .init(
                            symbol: "$s14FaultlineStore4readyyF", function: "FaultlineStore.read() -> ()",
                            file: "/s/R.swift", line: 3),
                        .init(
                            symbol: "$s9Groceries4ItemC4nameSSvg", function: "Groceries.Item.name.getter : String",
                            file: "/s/Item.swift", line: 5),
                        .init(
                            symbol: "$s9Groceries3rowyyF", function: "Groceries.row() -> ()", file: "/s/Row.swift",
                            line: 8),
                    ])), id: 1)
        dictionary.insert(.stack(StackEntry(frames: ["0xa"])), id: 50)
        var resolver = CallSiteResolver(dictionary: dictionary)
        let site = resolver.stackSite(of: fault)
        #expect(site?.description == "Row.swift:8")
        #expect(site?.function == "row()")
        #expect(site?.file == "/s/Row.swift")
    }

    @Test("The call site known to the compiler comes first, and the stack shows where the work was triggered")
    func staticSite() {
        let site = SiteEntry(file: "Groceries/Request.swift", line: 17, function: "items(matching:)")
        var resolver = resolver([Self.program], sites: [60: site])
        let fetch = TraceEvent(site: 60, stack: 50, .fetch(.init()))
        #expect(resolver.callSite(of: fetch)?.description == "Request.swift:17")
        #expect(resolver.stackSite(of: fetch)?.description == "List.swift:42")
        #expect(resolver.callSite(of: fault)?.description == "List.swift:42")
        let unknown = TraceEvent(site: 99, stack: 50, .fetch(.init()))
        #expect(resolver.callSite(of: unknown)?.description == "List.swift:42")
    }

    @Test("A frame with a line takes precedence over an earlier one with only a symbol")
    func symbolsOnly() {
        let bare = Frame(symbol: "$s4GRDB5fetchyyF", words: "GRDB.fetch() -> ()", file: "", module: "libGRDB.so")
        var mixed = resolver([bare, Self.program])
        #expect(mixed.stackSite(of: fault)?.description == "List.swift:42")
        #expect(mixed.callers(of: fault).map(\.description) == ["fetch()", "List.swift:42"])
        var alone = resolver([bare])
        #expect(alone.stackSite(of: fault)?.description == "fetch()")
    }

    @Test("A line in a source file takes precedence over one in a macro expansion")
    func macros() {
        let expansion = Frame(
            symbol: "$s9Groceries4testyyF", words: "closure #1 () -> () in Groceries.test() -> ()", line: 3,
            file: "/tmp/swift-generated-sources/@__swiftmacro_9Groceries4test_.swift")
        var mixed = resolver([expansion, Self.program])
        #expect(mixed.stackSite(of: fault)?.description == "List.swift:42")
        var alone = resolver([expansion])
        #expect(alone.stackSite(of: fault)?.line == 3)
    }

    @Test("Without a stack, or with an unresolved one, there is no call site")
    func nothing() {
        var resolver = resolver([])
        #expect(resolver.callSite(of: TraceEvent(.fault(.init()))) == nil)
        #expect(resolver.callSite(of: fault) == nil)
        #expect(resolver.callers(of: fault).isEmpty)
    }

    @Test("An event's site is where a fault fired or a batch loaded, or else where the work was requested")
    func place() {
        let site = SiteEntry(file: "Groceries/Request.swift", line: 17, function: "items(matching:)")
        var resolver = resolver([Self.program], sites: [60: site])
        for detail in [TraceEvent.Detail.batch(.init()), .fault(.init())] {
            #expect(resolver.reportedSite(of: TraceEvent(site: 60, stack: 50, detail))?.description == "List.swift:42")
            #expect(resolver.reportedSite(of: TraceEvent(site: 60, detail))?.description == "Request.swift:17")
        }
        for detail in [TraceEvent.Detail.fetch(.init()), .save(.init()), .use(.init())] {
            #expect(
                resolver.reportedSite(of: TraceEvent(site: 60, stack: 50, detail))?.description == "Request.swift:17")
            #expect(resolver.reportedSite(of: TraceEvent(stack: 50, detail))?.description == "List.swift:42")
        }
    }

    // MARK: - Frames

    private func frames(_ frames: [Frame]) -> [String] {
        let dictionary = resolver(frames).dictionary
        return dictionary.frames(of: dictionary.stack(50)!).flatMap {
            $0.entry?.locations.map(\.symbol) ?? [$0.address]
        }
    }

    @Test("The recorder's own frames are removed from a stack")
    func recorderFrames() {
        let recorder = [
            Frame(symbol: "fl_intern_stack", words: "fl_intern_stack", line: 185, file: "/src/CRecorder/dictionary.c"),
            Frame(symbol: "fl_end", words: "fl_end", line: 146, file: "/src/CRecorder/emit.c"),
            Frame(
                symbol: "$ss17withUnsafePointer2to_q0_xz_q0_SPyxGq_YKXEtq_YKs5ErrorR_",
                words: "Swift.withUnsafePointer<A, B>(to: inout A, _: (UnsafePointer<A>) -> B) -> B",
                file: "<compiler-generated>"),
            Frame(
                symbol: "$s17FaultlineRecorder0B0C3endyyF", words: "FaultlineRecorder.Recorder.end() -> ()", line: 58,
                file: "/src/Recorder+Events.swift"),
        ]
        let store = Frame(symbol: "$s14FaultlineStore4fillyyF", words: "FaultlineStore.fill() -> ()", line: 7)
        #expect(frames(recorder + [store, Self.program]) == [store.symbol, Self.program.symbol])
        // The recorder's scopes further out are between the program's own frames.
        let scope = Frame(symbol: "$s17FaultlineRecorder5scopeyyF", words: "FaultlineRecorder.scope() -> ()", line: 66)
        #expect(
            frames(recorder + [store, scope, Self.program]) == [store.symbol, scope.symbol, Self.program.symbol])
        #expect(frames([Self.program, store]) == [Self.program.symbol, store.symbol])
        let array = Frame(symbol: "$sSa3mapyF", words: "Swift.Array.map() -> ()", line: 1)
        #expect(frames([array, Self.program]) == [array.symbol, Self.program.symbol])
    }

    // MARK: - Without symbols

    /// Returns stacks of one stripped program, in which addresses 1 and 2 are the store's and the others its callers.
    private func stripped(_ stacks: [[Int]], module: String = "App") -> CallSiteResolver {
        var dictionary = TraceDictionary()
        dictionary.insert(
            .module(ModuleEntry(path: "/opt/App", bias: "0x1000", start: "0x1000", end: "0x9000", buildID: "")), id: 1)
        for number in 1..<10 {
            let address = "0x" + String(0x2000 + number * 16, radix: 16)
            dictionary.insert(.frame(FrameEntry(address: address, module: module, locations: [])), id: 100)
        }
        for (index, stack) in stacks.enumerated() {
            let frames = stack.map { "0x" + String(0x2000 + $0 * 16, radix: 16) }
            dictionary.insert(.stack(StackEntry(frames: frames)), id: DictionaryID(200 + index))
        }
        return CallSiteResolver(dictionary: dictionary)
    }

    @Test("Stacks of a stripped program are distinguished by the address where they diverge")
    func addresses() throws {
        var resolver = stripped([[1, 2, 3, 9], [1, 2, 4, 9], [1, 5, 6]])
        let sites = (200..<203).map { resolver.stackSite(of: TraceEvent(stack: $0, .fault(.init()))) }
        #expect(sites.map { $0?.description } == ["App+0x1030", "App+0x1040", "App+0x1050"])
        #expect(sites.allSatisfy { $0?.isAddress == true })
        #expect(CallSite(file: "", line: 0, function: "main").isAddress == false)
        // Libraries outside the program have no call site.
        var system = stripped([[1, 2, 3]], module: "libc.so.6")
        #expect(system.stackSite(of: TraceEvent(stack: 200, .fault(.init()))) == nil)
    }

    @Test("Callers are limited, innermost first, and without duplicates")
    func callers() {
        let other = Frame(symbol: "$s9Groceries3runyyF", words: "Groceries.run() -> ()", line: 80)
        var resolver = resolver([Self.program, Self.program, other])
        #expect(resolver.callers(of: fault).map(\.line) == [42, 80])
        #expect(resolver.callers(of: fault, limit: 1).map(\.line) == [42])
    }

    @Test("Call sites are equal whether the compiler or DWARF provides the path")
    func equality() {
        let known = CallSite(SiteEntry(file: "Groceries/List.swift", line: 42, function: "showList()"))
        let found = CallSite(file: "/home/me/Groceries/Sources/Groceries/List.swift", line: 42, function: "closure")
        #expect(known == found)
        #expect(known.hashValue == found.hashValue)
        #expect(known != CallSite(file: "Groceries/List.swift", line: 43))
        #expect(known != CallSite(file: "Groceries/Item.swift", line: 42))
        #expect(CallSite(file: "", line: 0, function: "a()") != CallSite(file: "", line: 0, function: "b()"))
    }
}
