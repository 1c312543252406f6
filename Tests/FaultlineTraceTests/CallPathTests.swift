import FaultlineTrace
import Testing
import TraceFixtures

@Suite("The call path of an event")
struct CallPathTests {
    private func paths(of trace: TraceBuilder) -> [[CodeFunction]] {
        var paths = CallPaths(dictionary: trace.dictionary)
        return trace.messages.compactMap { message in
            guard case .event(let event) = message else { return nil }
            return paths.functions(of: event)
        }
    }

    @Test func `A sample's path begins with the function that ran`() throws {
        var trace = TraceBuilder()
        trace.sample(["system memcpy", "sqlite sqlite3VdbeExec", "store fetch", "list", "system __libc_start_main"])
        let path = try #require(paths(of: trace).first)
        #expect(path.map(\.name) == ["memcpy", "sqlite3VdbeExec", "fetch()", "list", "__libc_start_main"])
        #expect(path.map(\.part) == [.system, .sqlite, .store, .program, .system])
        #expect(path[3].file == "/src/list.c" && path[3].module == "groceries")
    }

    @Test func `Functions without a symbol are those of their library`() throws {
        var trace = TraceBuilder()
        trace.sample(["sqlite ", "list"])
        let path = try #require(paths(of: trace).first)
        #expect(path.map(\.name) == ["libsqlite3.so.0", "list"])
        #expect(path[0].part == .sqlite)
    }

    @Test(
        "The time of a path belongs to the innermost part that is no system library",
        arguments: [
            (["system memcpy", "sqlite sqlite3VdbeExec", "list"], CodePart.sqlite),
            (["system memcpy", "list", "store perform"], .program), (["store fill", "list"], .store),
            (["recorder preload_begin_run", "sqlite sqlite3_step", "list"], .recorder),
            (["recorder sqlite3_step", "list"], .sqlite), (["system start_thread"], .program),
            (["fl_end", "store fetch", "list"], .recorder), ([], .program),
        ])
    func part(path: [String], part: CodePart) throws {
        var trace = TraceBuilder()
        trace.sample(path)
        #expect(CodePart(path: try #require(paths(of: trace).first)) == part)
    }
}
