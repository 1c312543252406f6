import FaultlineTrace

/// The text of a statement in a log, parsed.
final class LogStatement {
    let sql: String
    /// The first word in capitals.
    let verb: String
    /// The parts of a SELECT that fetches objects of an entity, or some of their values, rather than Core Data's own
    /// data.
    let select: SelectText?
    /// The parts of an INSERT, UPDATE or DELETE.
    let write: WriteText?
    /// Whether it uses a list of keys that the log does not print.
    let hasKeyList: Bool
    /// The number of its text without values in the trace's dictionary; `nil` if it is not yet there.
    var number: DictionaryID?
    /// The form of the last fetch with this text, and the numbers of its entity and shape in the trace's dictionary.
    fileprivate var last: (form: Form, entity: DictionaryID, shape: DictionaryID)?

    /// The facts that distinguish the shapes of fetches with the same text.
    struct Form: Equatable {
        var entity: String
        var prefetch: [String]
        var type: TraceEvent.Fetch.ResultType
        var hasValues: Bool
    }

    init(_ sql: String) {
        self.sql = sql
        verb = sql.prefix { $0.isLetter }.uppercased()
        select = verb == "SELECT" ? SelectText(sql).flatMap { WriteText.isOfEntity($0.table) ? $0 : nil } : nil
        write = ["INSERT", "UPDATE", "DELETE"].contains(verb) ? WriteText(sql) : nil
        hasKeyList = sql[...].has("_Z_intarray")
    }
}

extension LogStatement {
    /// Returns the numbers of a fetch's entity and shape, from `add` if they are not those of the last one.
    func numbers(
        of form: Form, add: () -> (entity: DictionaryID, shape: DictionaryID)
    ) -> (entity: DictionaryID, shape: DictionaryID) {
        if let last, last.form == form { return (last.entity, last.shape) }
        let (entity, shape) = add()
        last = (form, entity, shape)
        return (entity, shape)
    }
}

/// The statements of a log: equal texts are parsed once.
///
/// A log repeats few texts. In one that does not, as many are kept as the memory for them allows.
final class LogStatements {
    /// The approximate memory, in bytes, for the statements that are kept: their texts, and the same for each.
    private static let maximumSize = 16 << 20, sizeOfStatement = 512

    private var known: [Substring: LogStatement] = [:]
    private var size = 0

    subscript(_ text: Substring) -> LogStatement {
        if let statement = known[text] { return statement }
        let statement = LogStatement(String(text))
        let added = text.utf8.count + Self.sizeOfStatement
        size += added
        if size > Self.maximumSize { (known, size) = ([:], added) }
        known[statement.sql[...]] = statement
        return statement
    }
}
