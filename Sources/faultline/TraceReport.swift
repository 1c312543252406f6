import FaultlineAnalysis
import FaultlineReader
import FaultlineReport

/// The report of a trace: read, analysed, ready to be printed.
struct TraceReport {
    let analysis: Analysis
    /// Sentences about the trace's file, for stderr.
    let notes: [String]

    /// Reads and analyses a trace.
    ///
    /// - Throws: ``CommandFailure`` if the trace cannot be read.
    init(path: String) throws {
        let trace = try LoadedTrace(path: path)
        var profile = Profile()
        let summary = try trace.read { profile.add($0) }
        analysis = Analysis(profile)
        notes = trace.notes + Self.complaints(summary)
    }

    /// What of a trace could not be read, in sentences.
    static func complaints(_ summary: ReadingSummary) -> [String] {
        guard summary.malformedLines > 0 else { return [] }
        let first = summary.firstMalformed.map { ", the first in line \($0.number): \($0.reason)" } ?? ""
        let lines = summary.malformedLines == 1 ? "1 damaged line was" : "\(summary.malformedLines) damaged lines were"
        return ["\(lines) left out\(first)."]
    }

    func text(on terminal: Terminal) -> String {
        TextReport(analysis).render(width: terminal.width, colour: terminal.wantsColour)
    }

    func json() -> String {
        JSONReport(analysis).render()
    }
}
