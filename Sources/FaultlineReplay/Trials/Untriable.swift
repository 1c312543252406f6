import FaultlineStore

/// Why a finding's change cannot be tried.
struct Untriable: Error {
    /// A sentence.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }

    /// What the copy of the store said.
    init(_ error: any Error) {
        switch error {
        case let error as Untriable: reason = error.reason
        case let error as ReplayError: reason = error.description
        case let error as StoreError: reason = "On the copy: \(error.message)"
        default: reason = "On the copy: \(error)"
        }
    }
}
