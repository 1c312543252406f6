internal import FaultlineTrace

/// The times of preparing and running one statement at one line.
public struct PreparationEvidence: Sendable {
    public internal(set) var rows: UInt64 = 0
    public internal(set) var preparations: UInt64 = 0
    private var runSpeeds = Speeds()
    private var prepareSpeeds = Speeds()
}

extension PreparationEvidence {
    public var executions: UInt64 { runSpeeds.count }
    /// The runs' time in SQLite, in nanoseconds.
    public var time: UInt64 { runSpeeds.time }
    /// The time spent preparing, in nanoseconds.
    public var prepareTime: UInt64 { prepareSpeeds.time }

    mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent) {
        rows &+= UInt64(statement.rows)
        runSpeeds.add(event.timeWithoutLockWait)
        guard statement.preparations > 0 else { return }
        preparations &+= UInt64(statement.preparations)
        prepareSpeeds.add(statement.prepare)
    }

    /// The time spent preparing without its outliers, in nanoseconds.
    ///
    /// A thread that waits for a CPU while it prepares a statement takes a thousand times as long.
    var typicalPrepareTime: Double { prepareSpeeds.typicalTime }

    /// The share of preparing in the time of preparing and running, both without their outliers.
    var share: Double {
        let both = typicalPrepareTime + runSpeeds.typicalTime
        return both > 0 ? typicalPrepareTime / both : 0
    }
}

extension PreparationEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<PreparationEvidence>] = [
        .sum("rows", \.rows), .sum("preparations", \.preparations),
        .part("runSpeeds", \.runSpeeds), .part("prepareSpeeds", \.prepareSpeeds),
    ]
}
