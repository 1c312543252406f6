/// A statement that begins or ends a transaction, or a part of one.
enum TransactionStatement {
    case begin, commit, rollback
    /// The savepoint's name, in capitals.
    case savepoint(Substring), release(Substring), rollbackTo(Substring)

    init?(_ sql: String) {
        let words = sql.uppercased().split { $0.isWhitespace || ";\"`[]".contains($0) }
        let name = words.last ?? ""
        switch words.first {
        case "BEGIN": self = .begin
        case "COMMIT", "END": self = .commit
        case "SAVEPOINT": self = .savepoint(name)
        case "RELEASE": self = .release(name)
        case "ROLLBACK": self = words.contains("TO") ? .rollbackTo(name) : .rollback
        default: return nil
        }
    }
}
