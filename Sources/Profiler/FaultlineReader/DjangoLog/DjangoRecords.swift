/// Assembles records from the lines of a log.
///
/// A string in a statement can look like a record. A record can also be truncated within a string, and the next record
/// then looks like part of that string. Records found within an open string are therefore held back. If the string ends,
/// they are dropped. If the open record proves to be truncated, they are records of their own.
struct DjangoRecords {
    /// The maximum number of records that are held back.
    private static let maximumHeld = 4096

    private var open: DjangoRecord?
    /// Records found within the open record: complete ones, the lines of truncated ones, and one that continues.
    private var held: [DjangoRecord] = []
    private var heldBroken: [Int] = []
    private var inner: DjangoRecord?
    /// Whether the last record used MySQL's strings.
    private var isMySQL = false

    /// Complete records in the order of the log; the caller removes them.
    var whole: [DjangoRecord] = []
    /// The first lines of truncated records.
    private(set) var broken: [Int] = []
    /// Lines that look like a record with an unknown statement, each with its first word.
    private(set) var unknown: [(line: Int, word: String)] = []

    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) {
        let mark = DjangoMark(line)
        while open != nil {
            // Outside strings no SQL looks like the beginning of a record.
            if mark == nil || open?.isInText == true { return continueRecord(line, mark, number) }
            giveUp()
        }
        if let mark {
            begin(mark, line, number)
        } else if let word = DjangoMark.unknownWord(in: line) {
            unknown.append((number, word))
        }
    }

    /// Skips a line that is too long to read.
    mutating func skipLongLine(number: Int) {
        _ = finish()
        broken.append(number)
    }

    /// Ends the log, and returns whether it ends within a record.
    mutating func finish() -> Bool {
        let count = broken.count
        while let prefix = open?.mark.prefix {
            // Without a prefix, text in the open string cannot be distinguished from records.
            if prefix.isEmpty {
                heldBroken += held.map(\.number)
                held = []
            }
            giveUp()
        }
        return broken.count > count
    }

    /// Clears ``broken`` and ``unknown``.
    mutating func forgetProblems() { (broken, unknown) = ([], []) }

    private mutating func begin(_ mark: DjangoMark, _ line: UnsafeRawBufferPointer, _ number: Int) {
        var record = DjangoRecord(mark, number: number, isMySQL: isMySQL)
        switch record.take(UnsafeRawBufferPointer(rebasing: line[mark.text...])) {
        case .whole: add(record)
        case .open: open = record
        case .broken: if mark.hasVerb { broken.append(number) }
        }
    }

    /// Reads a line while a record is open, and also as if that record were truncated.
    private mutating func continueRecord(_ line: UnsafeRawBufferPointer, _ mark: DjangoMark?, _ number: Int) {
        let progress = open?.take(line) ?? .broken
        var within = DjangoRecord.Progress.open
        if let mark, let prefix = open?.mark.prefix, mark.prefix.isLike(prefix) {
            if let inner, inner.mark.hasVerb { heldBroken.append(inner.number) }
            var record = DjangoRecord(mark, number: number, isMySQL: isMySQL)
            within = record.take(UnsafeRawBufferPointer(rebasing: line[mark.text...]))
            inner = record
        } else if inner != nil {
            within = inner?.take(line) ?? .open
        }
        if within != .open, let record = inner {
            inner = nil
            if within == .whole { held.append(record) } else { heldBroken.append(record.number) }
        }
        // All strings of the open record have ended, so whatever they contained is not a record.
        let isSound = within != .whole && open?.hasStatement == true
        if isSound { (inner, held, heldBroken) = (nil, [], []) }
        switch progress {
        case .whole where isSound:
            if let record = open { add(record) }
            open = nil
        case .whole, .broken: giveUp()
        case .open:
            let isTorn = open?.isTorn == true && (inner != nil || !held.isEmpty)
            if isTorn || held.count >= Self.maximumHeld { giveUp() }
        }
    }

    private mutating func add(_ record: DjangoRecord) {
        guard !record.statement.isEmpty else { return }
        isMySQL = record.isMySQL
        whole.append(record)
    }

    /// Drops the open record as truncated, and keeps the records held back.
    private mutating func giveUp() {
        if let record = open, record.mark.hasVerb { broken.append(record.number) }
        broken += heldBroken
        for record in held { add(record) }
        (open, inner, held, heldBroken) = (inner, nil, [], [])
    }
}
