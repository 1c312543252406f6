package import FaultlineFindings
internal import FaultlineProfile
package import FaultlineRules

/// Tries the advice about the statements of a program without an object store on copies of its database.
///
/// The database itself is only read to be copied, and never opened.
package struct StatementVerifier {
    /// The database's name as given, and its resolved path.
    private let name: String
    private let path: String
    private let folder: ScratchFolder
    private let base: DatabaseFile

    /// Copies a database.
    ///
    /// - Parameter path: An SQLite file.
    /// - Throws: ``ReplayError`` if the file cannot be read or copied, or is not an SQLite file.
    package init(path: String) throws(ReplayError) {
        name = path
        self.path = try StorePath.resolved(path)
        folder = try ScratchFolder()
        base = try DatabaseFile(copy: folder.copyStore(self.path), named: path)
        base.forbidOtherFiles()
    }

    /// Tries every finding that can be tried.
    ///
    /// - Parameter progress: Called before each finding is tried, with the finding and the number of finished ones.
    package func verify(_ analysis: Analysis, progress: (Finding, Int) -> Void = { _, _ in }) -> Verification {
        Verification(store: name, of: analysis, progress: progress) { trial(of: $0, analysis) }
    }

    private func trial(of finding: Finding, _ analysis: Analysis) -> Trial {
        guard case .statement(let change) = finding.remedy else {
            return Trial(finding, notTried: "Only the program's author can make its change.")
        }
        let samples = analysis.profile.statementSamples.first { $0.key.sql == change.sql }?.evidence.texts ?? []
        do {
            let trials = StatementTrials(change: change, samples: samples, base: base, path: path, name: name)
            let (measurement, notes) = try trials.pair().measure(change)
            let pace = measurement.time.before.median / Double(max(1, change.time))
            if case .transaction = change.kind, !Self.comparablePace.contains(pace) {
                throw Untriable(
                    "The same writes take \(Phrase.decimal(pace, places: 2)) times as long here as in the trace: the program's "
                        + "settings of SQLite or its disk are different.")
            }
            return Trial(finding, measurement, recorded: analysis.recordedTime(of: finding), notes: notes)
        } catch {
            return Trial(finding, notTried: Untriable(error, copyOf: name).reason)
        }
    }

    /// The ratios of the time of transactions here to that in the trace at which they can be compared.
    private static let comparablePace = 0.2...5
}
