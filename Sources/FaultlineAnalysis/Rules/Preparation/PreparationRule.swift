public import FaultlineTrace

/// R21: statements that are prepared again and again although they do the same.
public struct PreparationRule: Rule {
    public let id = "R21"
    public let name = "Repeated preparation"
    public let purpose = "Statements that are prepared again for each fetch."
    public let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum number of preparations, and the minimum share of the fetches' time that they take.
    static let minimumPreparations = Threshold("R21", "minimumPreparations", 10, .count, "minimum preparations")
    static let minimumShare = Threshold(
        "R21", "minimumShare", 0.5, .share, "minimum share of the fetches' time that they take")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined = profile.fetches.reduce(0) { $0 &+ $1.counts.preparations }
        outcome.findings = profile.fetches.compactMap { finding(for: $0, profile) }
        if profile.allProcesses.lacks(.operations) {
            examined &+= profile.groups.reduce(0) { $0 &+ $1.counts.preparations }
            outcome.findings += profile.preparations.compactMap { finding(for: $0.key, $0.evidence, profile) }
        }
        if examined > 0 { outcome.examined = "\(count: examined, "prepared statement")" }
        return outcome
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile) -> Finding? {
        let counts = fetch.counts
        guard counts.preparations >= Self.minimumPreparations.count,
            2 * Double(counts.preparations) >= Double(counts.statements),
            Double(counts.prepareTime) >= Self.minimumShare.value * Double(counts.time)
        else { return nil }
        let entity = fetch.key.shape.entity
        let texts = fetch.statements.texts.keys.sorted()
        let isSame = texts.count <= 1
        // One preparation is needed, and binding values takes some of that time too.
        let saved = Double(counts.prepareTime) * (1 - 1 / Double(counts.preparations))
        var finding = Finding(
            rule: id, ruleName: name,
            title: isSame
                ? "Keep the statement of the fetch of \(entity: entity) prepared"
                : "Use one statement text for all values of the fetch of \(entity: entity)",
            change: fetch.key.site,
            score: Score.of(Double(counts.preparations), info: Self.minimumPreparations.value, warning: 1000),
            fix: isSame
                ? "A prepared statement is discarded when its connection is closed, when the schema changes, or when "
                    + "hundreds of other statements ran in between. Keep the container, and do not change the schema "
                    + "while the program works."
                : "Limits and offsets are part of a statement's text, so each value makes a new one. Page by the last "
                    + "value shown, not by offset, and use few different limits.",
            code: isSame ? [] : ["request.predicate = PropertyPath(\"key\") > last", "request.fetchLimit = 50"],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("some of the preparations may remain"),
            signature: fetch.signature(id, ""))
        finding.scopes = counts.scopes.names
        let most: Wording =
            (texts.count == StatementTable.capacity ? "at least " : "") + "\(plain: UInt64(texts.count)) texts"
        finding.explanation = [
            "\(count: counts.preparations, "preparation") for \(count: counts.executions, "fetch", plural: "fetches")"
                + (isSame ? "" : " with \(most)")
                + " took \(duration: counts.prepareTime) of \(duration: counts.time)."
        ]
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("preparations", counts.preparations, .count),
            Evidence("texts", Double(texts.count), .count), Evidence("prepareTime", counts.prepareTime, .nanoseconds),
            Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: saved, wallTime: profile.wallTime(of: counts.scopes.keys), isMainThread: fetch.isOnMainThread),
            isLargePart: false, of: "preparations")
        return finding
    }
}
