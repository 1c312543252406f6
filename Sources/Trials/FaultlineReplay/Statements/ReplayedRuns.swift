/// Runs of a statement, each with its text and the values that are bound to it.
struct ReplayedRuns {
    private(set) var runs: [(text: String, values: [StoredValue])]

    /// Runs with values from the copy.
    init(_ statement: DrawnStatement) { runs = statement.values.map { (statement.text, $0) } }

    /// One run.
    init(_ text: String, _ values: [StoredValue]) { runs = [(text, values)] }

    /// Runs whose texts have their values.
    init(recorded texts: [String]) { runs = texts.map { ($0, []) } }

    /// Runs with the same values and other texts.
    func changingTexts(_ change: (String) throws -> String) rethrows -> ReplayedRuns {
        var changed = self
        changed.runs = try runs.map { (try change($0.text), $0.values) }
        return changed
    }

    var count: UInt64 { UInt64(runs.count) }
    var hasValues: Bool { runs.contains { !$0.values.isEmpty } }

    /// Prepares the runs.
    ///
    /// - Throws: ``ReplayError`` with SQLite's message.
    func prepared(on file: DatabaseFile) throws(ReplayError) -> [(query: PreparedQuery, values: [StoredValue])] {
        var queries: [String: PreparedQuery] = [:]
        var prepared: [(query: PreparedQuery, values: [StoredValue])] = []
        for (text, values) in runs {
            if queries[text] == nil { queries[text] = try PreparedQuery(text, on: file) }
            if let query = queries[text] { prepared.append((query, values)) }
        }
        return prepared
    }
}
