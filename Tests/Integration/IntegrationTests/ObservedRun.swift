import FaultlineReader
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRecorder

/// The recorded statements of a program that does not know Faultline, and was run with the preloaded library.
struct ObservedRun {
    private(set) var result: BuiltCommand.Result
    private(set) var statements: [(text: String, fields: TraceEvent.Statement, event: TraceEvent)] = []
    private(set) var waits: [(fields: TraceEvent.Wait, event: TraceEvent)] = []
    private(set) var processes: [ProcessBegan] = []
    private var resolvers: [UInt32: CallSiteResolver] = [:]
    /// The bytes of the trace.
    private(set) var trace = ""

    /// - Parameter program: The name of one of the test programs, or a path.
    init(_ arguments: [String], program: String = "SQLiteProgram", variables: [String: String] = [:]) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("trace.json")
        let collector = try TraceCollector(path: path)
        var environment = collector.environment
        environment["LD_PRELOAD"] = Self.library
        environment.merge(variables) { $1 }
        result = try BuiltCommand.run(
            arguments, program: program.contains("/") ? program : BuiltCommand.programs.path + "/" + program,
            environment: environment)
        #expect(collector.finish().trace == path)
        var dictionary: [UInt32: TraceDictionary] = [:]
        try TraceReader(path: path).read { message in
            switch message {
            case .began(let began): processes.append(began)
            case .entry(let process, let id, let entry):
                dictionary[process, default: TraceDictionary()].insert(entry, id: id)
            case .event(let event):
                if case .wait(let fields) = event.detail { waits.append((fields, event)) }
                guard case .sql(let fields) = event.detail else { return }
                let text = dictionary[event.process]?.statement(fields.statement)?.sql ?? ""
                statements.append((text, fields, event))
            case .lost, .ended: break
            }
        }
        resolvers = dictionary.mapValues { CallSiteResolver(dictionary: $0) }
        trace = try String(contentsOfFile: path, encoding: .utf8)
    }

    static let library = BuiltCommand.products.appendingPathComponent("libFaultlinePreload.so").path

    /// The text of each run with its values, or `nil` if they were not recorded.
    var textsWithValues: [String?] {
        statements.map { resolvers[$0.event.process]?.dictionary.name($0.fields.values) }
    }

    func count(_ text: String) -> Int { statements.count { $0.text == text } }

    /// The lines of SQLite's plan for each run of a statement; `nil` if it was not asked for.
    func plans(of text: String) -> [[String]?] {
        statements.filter { $0.text == text }.map { statement in
            resolvers[statement.event.process]?.dictionary.plan(statement.fields.plan)?.rows.map(\.detail)
        }
    }

    /// Whether the stack of each run is cut off.
    var truncations: [Bool] {
        statements.map { resolvers[$0.event.process]?.dictionary.stack($0.event.stack)?.isTruncated == true }
    }

    /// The program's lines on the stacks of a statement's runs, innermost first.
    mutating func callers(of text: String) -> [[String]] {
        statements.filter { $0.text == text }.map { statement in
            resolvers[statement.event.process]?.callers(of: statement.event).map { "\($0.description) \($0.function)" }
                ?? []
        }
    }
}
