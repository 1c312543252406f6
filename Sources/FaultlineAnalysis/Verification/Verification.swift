/// The results of trying the advice of a trace on a copy of a store.
public struct Verification: Sendable, Hashable {
    /// The store's path.
    public let store: String
    /// The trials, in the order of the findings.
    public let trials: [Trial]

    package init(store: String, trials: [Trial]) {
        self.store = store
        self.trials = trials
    }
}
