package import FaultlineFindings

/// The results of trying the advice of a trace on a copy of a store.
package struct Verification: Sendable, Hashable {
    /// The store's path.
    package let store: String
    /// The trials, in the order of the findings.
    package let trials: [Trial]

    package init(store: String, trials: [Trial]) {
        self.store = store
        self.trials = trials
    }

    /// Tries the findings of an analysis.
    ///
    /// - Parameters:
    ///   - progress: Called before each finding is tried, with the finding and the number of finished ones.
    ///   - trial: Tries one finding.
    package init(
        store: String, of analysis: Analysis, progress: (Finding, Int) -> Void, trial: (Finding) -> Trial
    ) {
        self.init(
            store: store,
            trials: analysis.findings.enumerated().map { done, finding in
                progress(finding, done)
                return trial(finding)
            })
    }
}

extension Analysis {
    /// Whether a finding is about a migration, which is tried on a store of an older version.
    package var hasAdviceOnMigrations: Bool {
        findings.contains { if case .inferMigrations = $0.remedy { true } else { false } }
    }
}
