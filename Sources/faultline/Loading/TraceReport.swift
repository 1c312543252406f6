import FaultlineAnalysis
import FaultlineReport
import FaultlineTrace

/// The report of a trace, ready to be printed.
struct TraceReport {
    let analysis: Analysis
    /// Sentences about the trace's file, for stderr.
    let notes: [String]

    /// Reads and analyses a trace or a profile.
    ///
    /// - Parameter observe: Called for the messages of a trace. A profile has none.
    /// - Throws: ``CommandFailure`` if it cannot be read.
    init(path: String, observing observe: (TraceMessage) -> Void = { _ in }) throws {
        let loaded = try LoadedProfile(path: path, observing: observe)
        analysis = Analysis(loaded.profile)
        notes = loaded.notes
    }

    /// - Parameter showsAll: Whether to show every finding in full.
    func text(on terminal: Terminal, showsAll: Bool = false) -> String {
        TextReport(analysis, showsAll: showsAll).render(width: terminal.width, colour: terminal.wantsColour)
    }
}
