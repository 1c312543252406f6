import FaultlineTrace

/// The output of Django's logger `django.db.backends` at level DEBUG.
typealias DjangoReader = StatementLogReader<DjangoRecords>

extension DjangoRecords: StatementLog {
    static let name = "django"
    static let source = ProcessBegan.Source.django
    static let foreignFiles: String? = "the log of Django (django.db.backends)"

    mutating func takeStatements() -> [LoggedStatement] {
        guard !whole.isEmpty else { return [] }
        defer { whole.removeAll(keepingCapacity: true) }
        return whole.map { record in
            let prefix = record.mark.prefix
            return LoggedStatement(
                sql: record.statement.sql, type: record.statement.type, duration: record.mark.duration,
                time: prefix.time, process: record.process, thread: prefix.thread)
        }
    }

    mutating func takeProblems() -> [LogProblem] {
        if broken.isEmpty, unknown.isEmpty { return [] }
        defer { forgetProblems() }
        return broken.map { .broken(line: $0) } + unknown.map { .unknown(line: $0.line, word: $0.word) }
    }

    static func gaps(of contents: LogContents) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.operations), .init(.rows), .init(.callSites), .init(.threads), .init(.counters), .init(.values),
            .init(.waits), .init(.plans), .init(.exactTimes), .init(.shortDurations),
        ]
        if !contents.hasExactTimes { gaps.append(.init(.startTimes, remedy: "{asctime} in the format")) }
        return gaps
    }

    static func mayBe(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        DjangoArguments.areIn(UnsafeRawBufferPointer(head))
    }
}
