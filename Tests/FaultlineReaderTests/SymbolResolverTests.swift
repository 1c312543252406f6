import CSymbolFixture
import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("Addresses are resolved to functions, files and lines")
struct SymbolResolverTests {
    @Test("Inlined calls are expanded, innermost first, each with its own line")
    func inlined() throws {
        let address = fixture_outer()
        let resolver = SymbolResolver()
        let frame = try #require(resolver.frames(for: [address], modules: RunningModules.all()).first)
        #expect(frame.locations.map(\.symbol) == ["fixture_middle", "fixture_outer"])
        #expect(frame.locations.map(\.function) == ["fixture_middle", "fixture_outer"])
        #expect(frame.locations.map(\.line) == [Int(fixture_call_line()), Int(fixture_inline_line())])
        let file = String(cString: fixture_file())
        #expect(frame.locations.map(\.file) == [file, file])
        #expect(frame.address == "0x" + String(address, radix: 16))
        #expect(resolver.problems.isEmpty)
    }

    @Test("A Swift function is resolved to its symbol, demangled name, file and line")
    func swift() throws {
        let (address, line) = (SwiftFixture().whereAmI(3), SwiftFixture.line)
        let frame = try #require(SymbolResolver().frames(for: [address], modules: RunningModules.all()).first)
        let location = try #require(frame.locations.first)
        #expect(location.symbol.hasPrefix("$s20FaultlineReaderTests12SwiftFixtureV8whereAmI"))
        #expect(location.function.contains("FaultlineReaderTests.SwiftFixture.whereAmI"))
        #expect(location.function.contains("(Int) -> UInt64"))
        #expect(location.file.hasSuffix("Tests/FaultlineReaderTests/SymbolResolverTests.swift"))
        #expect(location.line == line)
    }

    @Test("A call without a line gets the preceding line in the same function")
    func lineZero() throws {
        let frame = try #require(
            SymbolResolver().frames(for: [fixture_merged()], modules: RunningModules.all()).first)
        #expect(frame.locations.map(\.symbol) == ["fixture_merged"])
        #expect(frame.locations.first?.line == Int(fixture_known_line()))
    }

    @Test("A C library without DWARF is resolved to symbols without lines")
    func symbolTable() throws {
        let function = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "dwfl_begin"))
        // As if the function had made a call at its start.
        let address = UInt64(UInt(bitPattern: function)) + 4
        let frame = try #require(SymbolResolver().frames(for: [address], modules: RunningModules.all()).first)
        #expect(frame.module == "libdw.so.1")
        let location = try #require(frame.locations.first)
        #expect(location.symbol == "dwfl_begin")
        #expect(location.line == 0)
        #expect(location.file.isEmpty)
    }

    @Test("The standard library's symbols are demangled")
    func standardLibrary() throws {
        let symbol = "$sSS9hasPrefixySbSSF"
        let function = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), symbol))
        let address = UInt64(UInt(bitPattern: function)) + 4
        let frame = try #require(SymbolResolver().frames(for: [address], modules: RunningModules.all()).first)
        #expect(frame.locations.first?.symbol == symbol)
        #expect(frame.locations.first?.function == "Swift.String.hasPrefix(String) -> Bool")
        #expect(frame.module == "libswiftCore.so")
    }

    @Test("Each distinct address is returned once, in order of appearance")
    func distinct() {
        let frames = SymbolResolver().frames(for: [9, 5, 9, 5], modules: [])
        #expect(frames.map(\.address) == ["0x9", "0x5"])
        #expect(frames.allSatisfy { $0.module.isEmpty && $0.locations.isEmpty })
    }

    @Test("A module that is missing, rebuilt or not a program is reported once and not used")
    func problems() throws {
        let address = fixture_outer()
        var own = try #require(module(of: address))
        let text = try TraceFile("hello")
        func attempt(_ module: ModuleEntry) -> (frames: [FrameEntry], problems: [SymbolProblem]) {
            let resolver = SymbolResolver()
            return (resolver.frames(for: [address, address + 1], modules: [module]), resolver.problems)
        }
        own.buildID = String(own.buildID.reversed())
        let rebuilt = attempt(own)
        #expect(rebuilt.problems == [SymbolProblem(path: own.path, reason: .rebuilt)])
        #expect(rebuilt.frames.allSatisfy { $0.locations.isEmpty && own.path.hasSuffix("/" + $0.module) })
        #expect(
            rebuilt.problems.first?.description
                == "No symbols from \"\(own.path)\": it was rebuilt after the recording; record again.")
        own.path = "/nowhere/libgone.so"
        let missing = attempt(own)
        #expect(missing.problems == [SymbolProblem(path: own.path, reason: .missing)])
        #expect(missing.frames.map(\.module) == ["libgone.so", "libgone.so"])
        #expect(
            missing.problems.first?.description
                == "No symbols from \"/nowhere/libgone.so\": there is no such file; resolve symbols on the recording machine."
        )
        own.path = text.path
        let unreadable = attempt(own)
        #expect(unreadable.problems == [SymbolProblem(path: text.path, reason: .unreadable)])
        #expect(
            unreadable.problems.first?.description
                == "No symbols from \"\(text.path)\": it cannot be read as a program or library; check the file.")
        own.path = "[vdso]"
        #expect(attempt(own).problems.isEmpty)
    }

    @Test("The last module mapped at an address wins")
    func mappedAgain() throws {
        let address = fixture_outer()
        let own = try #require(module(of: address))
        var gone = own
        gone.path = "/nowhere/libgone.so"
        #expect(SymbolResolver().frames(for: [address], modules: [gone, own]).first?.locations.isEmpty == false)
        #expect(SymbolResolver().frames(for: [address], modules: [own, gone]).first?.module == "libgone.so")
    }

    private func module(of address: UInt64) -> ModuleEntry? {
        RunningModules.all().first {
            UInt64($0.start.dropFirst(2), radix: 16)! <= address && address < UInt64($0.end.dropFirst(2), radix: 16)!
        }
    }
}

struct SwiftFixture {
    static let line = #line + 4

    @inline(never)
    func whereAmI(_ number: Int) -> UInt64 {
        fixture_keep(fixture_caller(), 8)
    }
}
