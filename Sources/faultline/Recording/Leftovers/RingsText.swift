import FaultlineAnalysis
import FaultlineRecorder
import FaultlineReport
import Foundation

/// The text for rings.
enum RingsText {
    static func list(_ rings: [LeftoverRings]) -> String {
        guard !rings.isEmpty else { return "No program left ring buffers.\n" }
        return rings.map { text($0) + "\n" }.joined(separator: "\n")
    }

    private static func text(_ rings: LeftoverRings) -> String {
        let began = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: rings.date))
        let state =
            switch rings.state {
            case .running: "running"
            case .closed: "ended"
            case .killed: "killed"
            }
        let program = rings.program.isEmpty ? "unknown program" : rings.program
        return """
            \(rings.file)
              \(program), process \(rings.process), began \(began), \(state)
              \(Phrase.count(rings.events, "event")) in no trace
              \(advice(rings))
            """
    }

    /// The advice for the rings.
    static func advice(_ rings: LeftoverRings) -> String {
        if rings.state == .running { return "→ wait until it ends" }
        if rings.isSpent { return "→ faultline clean" }
        guard let trace = rings.trace, FileManager.default.fileExists(atPath: trace) else {
            return "→ faultline recover \(rings.file) -o trace.json"
        }
        return "→ faultline recover \(trace)"
    }
}
