public import FaultlineTrace

extension Profile {
    /// Faults that went to the store one by one.
    public var faults: [(key: FaultEvidence.Key, evidence: FaultEvidence)] {
        evidence(of: FaultDetector.self)
    }

    /// Fetches that ran in a loop.
    public var loops: [(key: LoopEvidence.Key, evidence: LoopEvidence)] {
        evidence(of: LoopDetector.self)
    }

    /// Objects that were looked up one by one.
    public var lookUps: [(key: LookUpEvidence.Key, evidence: LookUpEvidence)] {
        evidence(of: LookUpDetector.self)
    }

    /// The evidence of one loop.
    package func loop(_ key: LoopEvidence.Key) -> LoopEvidence? { tables.evidence[LoopDetector.self][key] }

    /// Saves that were too small or too large.
    public var saves: [(key: SaveEvidence.Key, evidence: SaveEvidence)] {
        evidence(of: SaveDetector.self)
    }

    /// Fetches that were repeated although nothing had changed.
    public var repeats: [(key: FetchProfile.Key, evidence: RepeatEvidence)] {
        evidence(of: RepeatDetector.self)
    }

    /// Waits for queues and locks.
    public var waits: [(key: WaitEvidence.Key, evidence: WaitEvidence)] {
        evidence(of: WaitDetector.self)
    }

    /// Operations that blocked main threads and kept them from drawing.
    public var blocks: [(key: BlockEvidence.Key, evidence: BlockEvidence)] {
        evidence(of: BlockDetector.self)
    }

    /// Faults that went to the store, with whether their rows had been in memory.
    public var refaults: [(key: RefaultEvidence.Key, evidence: RefaultEvidence)] {
        evidence(of: RefaultDetector.self)
    }

    /// Large objects that stayed realized after their scope.
    public var holds: [(key: HoldEvidence.Key, evidence: HoldEvidence)] {
        evidence(of: HoldDetector.self)
    }

    /// Statements that ran in a loop, outside any operation of an object store.
    public var statementLoops: [(key: StatementSite, evidence: StatementLoopEvidence)] {
        evidence(of: StatementLoopDetector.self)
    }

    /// Small transactions that followed one another, outside any operation of an object store.
    public var smallTransactions: [(key: StatementSite, evidence: SmallTransactionEvidence)] {
        evidence(of: SmallTransactionDetector.self)
    }

    /// The time of preparing statements outside any operation of an object store, in nanoseconds.
    ///
    /// It is no part of the store's time.
    package var statementPreparation: UInt64 {
        statementCounts.prepare
    }

    /// The counts of all statements outside any operation of an object store.
    package var statementCounts: EventGroup.Counts {
        groups.reduce(into: EventGroup.Counts()) { if $1.key.kind == .sql { $0.merge($1.counts) } }
    }

    /// Statements that ran again with the same values, outside any operation of an object store.
    public var repeatedStatements: [(key: StatementSite, evidence: RepeatedStatementEvidence)] {
        evidence(of: RepeatedStatementDetector.self)
    }

    /// Statements that scanned tables, outside any operation of an object store.
    public var statementScans: [(key: StatementSite, evidence: StatementScanEvidence)] {
        evidence(of: StatementScanDetector.self)
    }

    /// Statements that skipped rows by an offset, outside any operation of an object store.
    public var offsets: [(key: StatementSite, evidence: OffsetEvidence)] {
        evidence(of: OffsetDetector.self)
    }

    /// A few texts with values of each statement outside any operation of an object store, if the trace has them.
    public var statementSamples: [(key: StatementSite, evidence: StatementSamples)] {
        evidence(of: StatementSampleDetector.self)
    }

    /// The times of preparing and running statements, outside any operation of an object store.
    public var preparations: [(key: StatementSite, evidence: PreparationEvidence)] {
        evidence(of: PreparationDetector.self)
    }

    /// Statements whose many rows a mapper kept in memory, outside any operation of an object store.
    public var wholeResults: [(key: StatementSite, evidence: WholeResultEvidence)] {
        evidence(of: WholeResultDetector.self)
    }

    /// What the program read of the rows of statements outside any operation of an object store, if that was recorded.
    public var columnReads: [(key: StatementSite, evidence: ColumnReadEvidence)] {
        evidence(of: ColumnReadDetector.self)
    }

    /// The CPU time of the program's call paths, if it was sampled.
    public var cpuTimes: [(path: CPUPath, time: CPUTime)] {
        evidence(of: CPUDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The sampled CPU time of each part of the program, in nanoseconds.
    public var cpuTimeByPart: [CodePart: UInt64] {
        cpuTimes.reduce(into: [:]) { $0[$1.path.part, default: 0] &+= $1.time.time }
    }

    /// The allocations of the program's call paths, if they were sampled.
    public var allocations: [(path: AllocationPath, sum: AllocationSum)] {
        evidence(of: AllocationDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The memory of each program, by its path, if it was recorded.
    public var programMemory: [(program: String, memory: ProgramMemory)] {
        evidence(of: ProgramMemoryDetector.self).map { ($0.key, $0.evidence) }
    }

    /// The evidence of a detector, sorted by the text of its keys.
    func evidence<Gatherer: EvidenceDetector>(
        of detector: Gatherer.Type
    ) -> [(key: Gatherer.Key, evidence: Gatherer.Evidence)] {
        sortedEvidence[detector]
    }
}
