internal import FaultlineTrace

/// A claim of a finding's saving on an account of time.
///
/// No time is allotted twice.
struct Claim: Sendable, Hashable {
    enum Account: Sendable, Hashable {
        /// Loading the rows of one fetch, at once or in batches.
        case loads(FetchProfile.Key)
        /// Preparing one statement at one line, outside any operation of an object store.
        case preparing(StatementSite)
        /// The evidence of a detector under one key.
        case evidence(EvidenceReference)
    }

    var account: Account
    /// The account's balance before the first claim, in nanoseconds.
    var balance: Double

    init(account: Account, balance: Double) {
        self.account = account
        self.balance = balance
    }

    /// Creates a claim on the time of a detector's evidence.
    init<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, _ key: Gatherer.Key, balance: Double) {
        self.init(account: .evidence(EvidenceReference(detector, key)), balance: balance)
    }

    /// Creates a claim on the time of fetches and their batches, without those in set-up scopes.
    static func loads(_ fetch: FetchProfile.Key, _ profile: Profile) -> Claim {
        let counts = profile.fetch(fetch)?.counts
        return Claim(
            account: .loads(fetch), balance: Double(counts?.time ?? 0) + Double(counts?.batchTime ?? 0))
    }
}
