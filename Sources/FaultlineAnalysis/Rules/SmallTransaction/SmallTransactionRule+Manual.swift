public import FaultlineTrace

extension SmallTransactionRule {
    public var needs: Set<TraceGap.Kind> { [.statements] }

    public var thresholds: [Threshold] { [SmallTransactionDetector.threshold] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(Phrase.count(SmallTransactionDetector.threshold.count)) transactions with one or two statements that "
                + "write, from one line on one thread, within one scope or without a pause of \(Repetition.statementPause / 1_000_000) ms. A statement outside any "
                + "transaction is a transaction of its own.",
            evidence: "The transactions, their rows and their time in SQLite, and the time between them.",
            fix: "Begin a transaction before the first row, and commit it after the last one.",
            saving:
                "The time of the transactions, less \(Phrase.duration(Self.write)) for each of their writes.",
            guards: [
                "R28 ignores transactions that take less than \(Phrase.duration(Self.write)) per write, such as those of databases in memory.",
                "R28 ignores the statements of saves, which R10 evaluates.",
                "The statements of one thread count as those of one connection.",
                "A finding is a note if it saves less than 1 % of the time that the work took and less than 2 ms.",
                "A finding is a note if the program spends at least 5 ms elsewhere between two transactions.",
            ])
    }
}
