import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation

/// The report of a trace, ready to be printed.
struct TraceReport {
    let analysis: Analysis
    private let path: String
    /// Sentences about the trace's file, for stderr.
    let notes: [String]

    /// Reads and analyzes a trace or a profile.
    ///
    /// - Parameters:
    ///   - store: The database to ask about indexes, or `nil` for the one that the trace names.
    ///   - observe: Called for the messages of a trace. A profile has none.
    /// - Throws: ``CommandFailure`` if it, or the given database, cannot be read.
    init(path: String, store: String? = nil, observing observe: (TraceMessage) -> Void = { _ in }) throws {
        let loaded = try LoadedProfile(path: path, observing: observe)
        self.path = path
        analysis = try Analysis(asking: store, about: loaded.profile)
        notes = loaded.notes
    }

    /// The step after the report.
    func nextStep(_ options: AnalysisOptions) -> NextStep? {
        NextStep.Input(file: path, options.words).flatMap { NextStep.after(analysis, $0) }
    }

    /// - Parameters:
    ///   - showsAll: Whether to show every finding in full.
    ///   - next: The step that the text ends with, or `nil` for none.
    func text(on terminal: Terminal, showsAll: Bool = false, next: NextStep? = nil) -> String {
        let layout = Layout(
            width: terminal.width, isColoured: terminal.wantsColour, showsAll: showsAll, next: next)
        return Renderers.all[0].printer(of: Analysis.self)?(analysis, layout) ?? ""
    }

    /// The sections about migrations and findings.
    func migrations(on terminal: Terminal) -> String {
        TextReport(analysis).migrations(width: terminal.width, colour: terminal.wantsColour)
    }
}

extension NextStep.Input {
    /// Creates the input of a next step.
    ///
    /// - Parameter options: The options that both commands share: their names, followed by their values.
    /// - Returns: `nil` if the next command could not read the file, because it is a pipe or standard input.
    init?(file path: String, _ options: [String] = []) {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT),
            !path.hasPrefix("/dev/fd/"), !path.hasPrefix("/proc/"), path != "/dev/stdin"
        else { return nil }
        self.init(path: path, options: options, isProfile: LoadedProfile.isProfile(path))
    }
}
