import FaultlineReader
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// A trace on disk that is completed, resolved and ready to be read.
struct LoadedTrace {
    let path: String
    private let reader: TraceReader
    /// Sentences about what was found on the way, for stderr.
    private(set) var notes: [String] = []

    /// Opens a trace.
    ///
    /// One whose program was killed is completed first from what the program left behind.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read.
    init(path: String) throws {
        self.path = path
        reader = try Self.reader(path)
        if reader.format == .timeline { try recover() }
        try addSymbols()
    }

    /// Hands every message of the trace to `body`.
    func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        do {
            return try reader.read(body)
        } catch let error as ReaderError {
            throw CommandFailure.usage(error.message)
        }
    }

    private static func reader(_ path: String) throws -> TraceReader {
        do {
            return try TraceReader(path: path)
        } catch {
            throw CommandFailure.usage(error.message)
        }
    }

    private mutating func recover() throws {
        var rings: [UInt32: String] = [:]
        let summary = try read {
            if case .began(let process) = $0 { rings[process.process] = process.rings }
        }
        let open = summary.unendedProcesses.compactMap { rings[$0] }.filter { !$0.isEmpty }
        guard !open.isEmpty else { return }
        switch TraceRecovery.recover(path, rings: open) {
        case .nothing: break
        case .recovered(let events):
            notes.append("the program was killed; \(events) events that it had recorded were added to \"\(path)\"")
        case .stillRunning: notes.append("the program still runs; this is what it has recorded up to now")
        case .impossible(let reason):
            notes.append("what the killed program had left could not be added to \"\(path)\" (\(reason))")
        }
    }

    /// Resolves what the recorder left as addresses, and keeps it in the trace.
    ///
    /// What fails here costs the names, not the report.
    private mutating func addSymbols() throws {
        let resolver = SymbolResolver()
        do {
            try resolver.addFrames(to: reader)
        } catch let error as ReaderError {
            notes.append(error.message)
        }
        notes += resolver.problems.map(\.description)
    }
}
