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
        var complaints: [String] = []
        if summary.malformedLines > 0 {
            let what = Phrase.count(
                UInt64(summary.malformedLines), summary.lines > 0 ? "damaged line" : "damaged event")
            let verb = summary.malformedLines == 1 ? "was" : "were"
            let first = summary.firstMalformed.map { line in
                line.number > 0 ? ", the first in line \(line.number): \(line.reason)" : ": \(line.reason)"
            }
            complaints.append("\(what) \(verb) left out\(first ?? "").")
        }
        for stream in summary.damagedStreams {
            let what = Phrase.count(UInt64(stream.packets), "damaged packet")
            complaints.append(
                "\(what) of \"\(stream.file)\" \(stream.packets == 1 ? "was" : "were") left out, with the events in "
                    + "\(stream.packets == 1 ? "it" : "them").")
        }
        if summary.lostPackets > 0 {
            let what = Phrase.count(summary.lostPackets, "packet")
            complaints.append(
                "\(what) \(summary.lostPackets == 1 ? "is" : "are") missing in the trace, and nobody knows how many events; "
                    + "larger sub-buffers would help.")
        }
        if summary.lostEntries > 0 {
            let what = Phrase.count(summary.lostEntries, "dictionary entry", plural: "dictionary entries")
            complaints.append(
                "LTTng had no room for \(what): names are missing; "
                    + "larger sub-buffers in the dictionary's channel would help.")
        }
        return complaints
    }

    func text(on terminal: Terminal) -> String {
        TextReport(analysis).render(width: terminal.width, colour: terminal.wantsColour)
    }

    func json() -> String {
        JSONReport(analysis).render()
    }
}
