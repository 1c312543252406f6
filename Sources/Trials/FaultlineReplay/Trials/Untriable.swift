import FaultlineStore

/// The reason why a finding's change cannot be tried.
struct Untriable: Error {
    /// The reason, as a sentence.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// The beginning of a reason that concerns the copy of a store.
    static let copyPrefix = "On the copy: "

    /// Rewords an error about the copy of a store as one about the store itself.
    init(_ error: any Error, copyOf store: String) {
        let said =
            switch error {
            case let error as Untriable: error.reason
            case let error as ReplayError: error.description
            case let error as StoreError: Self.copyPrefix + error.message
            default: Self.copyPrefix + "\(error)"
            }
        reason = ScratchFolder.namingStore(said, copyOf: store)
    }
}
