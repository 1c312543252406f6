import FaultlineTrace

/// The data in a log that depends on its level.
struct SQLDebugContents {
    private var hasValues = false
    private var hasPlans = false
    private var hasSites = false

    mutating func add(_ line: SQLDebugLine) {
        if line.category == .annotation, !hasSites { hasSites = SQLDebugAnnotation.Request(line.text) != nil }
        guard line.category == .details, !hasValues || !hasPlans else { return }
        hasValues = hasValues || line.text.begins(with: "SQLite bind[")
        hasPlans = hasPlans || line.text.begins(with: "SQLite: EXPLAIN QUERY PLAN")
    }

    /// The data that the log lacks.
    ///
    /// - Parameters:
    ///   - hasWriteTimes: Whether it has the times of all its writes.
    ///   - hasEntityNames: Whether it names all its entities.
    func gaps(hasWriteTimes: Bool, hasEntityNames: Bool) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.rowCache), .init(.use), .init(.sizes), .init(.counters),
            .init(.threads), .init(.waits), .init(.errors), .init(.model), .init(.changes),
            .init(.certainOrigins), .init(.exactTimes),
        ]
        if !hasSites { gaps.insert(.init(.callSites), at: 0) }
        if !hasEntityNames { gaps.append(.init(.entityNames, remedy: "-com.apple.CoreData.SQLDebug 2")) }
        if !hasWriteTimes { gaps.append(.init(.writeTimes)) }
        if !hasValues { gaps.append(.init(.values, remedy: "-com.apple.CoreData.SQLDebug 2")) }
        if !hasPlans { gaps.append(.init(.plans, remedy: "-com.apple.CoreData.SQLDebug 4")) }
        return gaps
    }
}
