import ArgumentParser
import FaultlineReader
import FaultlineRecorder
import Foundation

/// Lists what killed programs left behind, and makes traces of it.
struct RecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Lists events that killed programs left in shared memory, and writes them to traces.",
        discussion: """
            faultline recover
                Lists ring buffers that programs left in shared memory.
            faultline recover trace.json
                Completes a trace with what its programs left.
            faultline recover /dev/shm/faultline-4711-1.rings -o trace.json
                Makes a trace of ring buffers without one.

            "faultline report" completes a trace automatically, unless the trace was copied or moved to another file \
            system. Ring buffers are removed once a trace contains all their events.
            """)

    @Argument(help: "A trace, or files of ring buffers.", completion: .file())
    var files: [String] = []

    @Option(name: .shortAndLong, help: "A new trace, for files of ring buffers.", completion: .file())
    var output: String?

    func validate() throws {
        let rings = files.filter(Self.isRings)
        if output != nil, rings.isEmpty || rings.count < files.count {
            throw ValidationError("-o needs files of ring buffers; \"faultline recover\" without arguments lists them.")
        }
        if output == nil, !rings.isEmpty {
            throw ValidationError("Name a new trace for the ring buffers with -o.")
        }
        if output == nil, files.count > 1 {
            throw ValidationError("Name one trace.")
        }
    }

    func run() throws {
        if let output {
            try makeTrace(output)
        } else if let trace = files.first {
            try complete(trace)
        } else {
            try Terminal.output.write(
                RingsText.list(LeftoverRings.find(), unreadable: LeftoverRings.findUnreadable()))
        }
    }

    private static func isRings(_ path: String) -> Bool {
        RingDirectory.isRingsName(URL(fileURLWithPath: path).path)
    }

    private func makeTrace(_ output: String) throws {
        _ = try OutputFile(output, .trace, inputs: CommandInputs(files))
        let paths = files.map { URL(fileURLWithPath: $0).path }
        for rings in paths.compactMap({ LeftoverRings($0) }) {
            if rings.state == .running {
                throw CommandFailure.usage(
                    "Process \(rings.process) is still writing \"\(rings.file)\"; wait until it ends.")
            }
            if let trace = rings.trace, FileManager.default.fileExists(atPath: trace) {
                throw CommandFailure.usage(
                    "\"\(rings.file)\" belongs to \"\(trace)\"; complete it with \"faultline recover \(trace)\".")
            }
        }
        do {
            let events = try TraceRecovery.makeTrace(output, of: paths)
            Terminal.tell("\(output): \(events) events; \"faultline report \(output)\" prints the report.")
        } catch let error as RecorderError {
            throw CommandFailure.tool(error.message)
        }
    }

    private func complete(_ trace: String) throws {
        let reading = try LoadedTrace.explained(trace) {
            let reader = try TraceReader(path: trace)
            guard reader.capabilities.contains(.recovery) else {
                throw CommandFailure.usage(
                    "\"\(trace)\" is not a timeline; \"faultline recover\" can complete only timelines.")
            }
            let reading = try reader.begin()
            try reading.expectNames()
            return reading
        }
        switch TraceRecovery.recover(trace, rings: reading.rings, isAdopting: true) {
        case .nothing: Terminal.tell("\(trace): its programs left no ring buffers.")
        case .recovered(let events): Terminal.tell("\(trace): \(events) events were added.")
        case .stillRunning: Terminal.tell("\(trace): its program is still running and writing it.")
        case .impossible(let reason, let events):
            throw CommandFailure.tool(
                "Cannot add \(events) events to \"\(trace)\" (\(reason)); they are kept. "
                    + "Free some space, or make a trace of the ring buffers with \"faultline recover\".")
        }
    }
}
