import FaultlineAnalysis
import FaultlineReport

/// The report of a trace, ready to be printed.
struct TraceReport {
    let analysis: Analysis
    /// Sentences about the trace's file, for stderr.
    let notes: [String]

    /// Reads and analyses a trace or a profile.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be read.
    init(path: String) throws {
        let loaded = try LoadedProfile(path: path)
        analysis = Analysis(loaded.profile)
        notes = loaded.notes
    }

    /// - Parameter showsAll: Whether to show every finding in full.
    func text(on terminal: Terminal, showsAll: Bool = false) -> String {
        TextReport(analysis, showsAll: showsAll).render(width: terminal.width, colour: terminal.wantsColour)
    }
}
