internal import FaultlineFindings
package import FaultlineRules
internal import FaultlineTrace

/// The inspection of a store at rest as text for a terminal: its contents and what to change.
package struct InspectionText: Sendable {
    let inspection: StoreInspection
    /// The maximum number of tables listed, the largest first.
    static let shown = 10

    package init(_ inspection: StoreInspection) {
        self.inspection = inspection
    }

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–100.
    ///   - colour: Whether to colour the text for a terminal.
    package func render(width: Int = 100, colour: Bool = false) -> String {
        let width = TextPage.width(width)
        let ink = Ink(isColoured: colour)
        let sections = [
            header(ink, width), tables(ink, width),
            FindingsText(findings: inspection.findings, showsSavings: false).lines(ink, width), checks(ink, width),
        ]
        return TextPage.joined(sections, ink)
    }

    private func header(_ ink: Ink, _ width: Int) -> [String] {
        let facts = inspection.facts
        let lines = Phrase.wrapped("\(Phrase.fileName(facts.path)): \(Self.summary(facts))", width: width)
        return [ink(.bold, lines[0])] + lines.dropFirst()
    }

    /// The file in a few words: `1.20 MiB, 12 tables, 3,456 rows; 300 pages of 4.00 KiB; write-ahead log`.
    static func summary(_ facts: StoreFacts) -> String {
        let rows = facts.tables.reduce(0) { $0 &+ $1.rows }
        let size = max(facts.size, facts.pages &* facts.pageSize)
        var words = "\(Phrase.size(Double(size))), \(Phrase.count(UInt64(facts.tables.count), "table"))"
        words +=
            ", \(Phrase.count(rows, "row")); \(Phrase.count(facts.pages, "page")) of \(Phrase.size(Double(facts.pageSize)))"
        if facts.freePages > 0 { words += ", \(Phrase.count(facts.freePages)) of them free" }
        words += facts.journalMode == "wal" ? "; write-ahead log" : "; rollback journal"
        if facts.isCoreData { words += facts.isFaultline ? "; a Faultline store" : "; a Core Data store" }
        return words
    }

    private func tables(_ ink: Ink, _ width: Int) -> [String] {
        let all = inspection.facts.tables.ordered { ($0.size, $0.rows, $1.name) > ($1.size, $1.rows, $0.name) }
        guard !all.isEmpty || !inspection.facts.others.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "table", alignment: .left, losing: .middle), .init(title: "rows", alignment: .right),
            .init(title: "size", alignment: .right), .init(title: "a row", alignment: .right),
            .init(title: "indexes", alignment: .right),
            .init(title: "largest column", alignment: .left, losing: .middle),
        ])
        for one in all.prefix(Self.shown) {
            let largest = one.columns.max { ($0.meanSize, $1.name) < ($1.meanSize, $0.name) }
            let indexes = one.indexes.reduce(0) { $0 &+ $1.size }
            table.add([
                one.entity.map { "\(one.name) (\($0))" } ?? one.name, Phrase.count(one.rows),
                one.size == 0 ? "–" : Phrase.size(Double(one.size)),
                Phrase.size(one.columns.reduce(0) { $0 + $1.meanSize }),
                one.indexes.isEmpty ? "–" : "\(one.indexes.count), \(Phrase.size(Double(indexes)))",
                largest.map { "\($0.label), \(Phrase.size($0.meanSize))" } ?? "–",
            ])
        }
        for part in inspection.facts.others where part.size >= inspection.facts.size / 100 {
            table.add([
                part.name, Phrase.count(part.rows), part.size == 0 ? "–" : Phrase.size(Double(part.size)), "–", "–",
                "–",
            ])
        }
        let more = all.count > Self.shown ? ink(.dim, "  (\(all.count - Self.shown) more)") : ""
        return [ink(.bold, "Tables") + more] + table.section(ink, width: width)
    }

    private func checks(_ ink: Ink, _ width: Int) -> [String] {
        [ink(.bold, "Checked")] + remarks.flatMap { TextPage.item($0, width: width) }
    }

    /// Paragraphs about the checks: their results, and the data that could not be examined.
    var remarks: [String] {
        var text: [String] = []
        func add(_ words: String) { text.append(words) }
        for check in inspection.checks where check.findings > 0 {
            add(
                "\(check.name): \(check.examined ?? ""): \(Phrase.count(UInt64(check.findings), "finding"))")
        }
        let silent = inspection.checks.filter { $0.findings == 0 && $0.examined != nil }.map(\.name)
        if !silent.isEmpty { add("Nothing found: " + silent.joined(separator: ", ")) }
        let idle = inspection.checks.filter { $0.examined == nil }.map(\.name)
        if !idle.isEmpty { add("Not applicable to this store: " + idle.joined(separator: ", ")) }
        for advice in inspection.withdrawn { add("Tried and withdrawn: \(advice.title). \(advice.reason)") }
        if inspection.untried > 0 {
            let count = Phrase.count(
                UInt64(inspection.untried), "change that could help", plural: "changes that could help")
            add("Not tried, and so not advised: \(count).")
        }
        for table in inspection.facts.tables {
            if let problem = table.problem { add("\(table.name) could not be examined: \(problem).") }
        }
        if inspection.facts.tables.contains(where: { $0.sampled < $0.rows }) {
            add("Only a sample of the rows of large tables was examined.")
        }
        return text
    }
}

extension StoreInspection: PageDocumented {
    package func text(_ layout: Layout) -> String {
        InspectionText(self).render(width: layout.width, colour: layout.isColoured)
    }
}
