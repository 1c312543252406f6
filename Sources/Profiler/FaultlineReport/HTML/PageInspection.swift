internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineRules

/// The inspection of a store at rest, for a page.
enum PageInspection {
    static func value(_ inspection: StoreInspection) -> JSONValue {
        let facts = inspection.facts
        return .object([
            ("name", .string(Phrase.fileName(facts.path))), ("facts", .string(InspectionText.summary(facts))),
            ("limits", .array([])),
            ("findings", .array(inspection.findings.map { PageFinding.value($0, statesSaving: false) })),
            ("rules", PageFinding.rules(of: inspection.findings)),
            ("remarks", .array(InspectionText(inspection).remarks.map { .string($0) })),
            ("parts", .array(parts(facts))),
        ])
    }

    /// The contents of the file: tables with their columns and indexes, other contents, and free pages.
    private static func parts(_ facts: StoreFacts) -> [JSONValue] {
        var parts = facts.tables.filter { $0.size > 0 }.map(table)
        parts += facts.others.filter { $0.size > 0 }.map { other in
            part(other.name, "other", other.size, "\(Phrase.count(other.rows, "row"))")
        }
        if facts.freePages > 0 {
            parts.append(
                part("free pages", "free", facts.freePages &* facts.pageSize, Phrase.count(facts.freePages, "page")))
        }
        return parts
    }

    /// A table, its columns by their share of its values, the bytes that are unused, and its indexes.
    ///
    /// SQLite does not say how many bytes of a table a column takes, but the mean size of the values does.
    private static func table(_ table: StoreFacts.Table) -> JSONValue {
        let values = table.columns.reduce(0) { $0 + $1.meanSize }
        let used = Double(table.size - min(table.unused, table.size))
        var members = table.columns.filter { $0.meanSize > 0 && values > 0 }.map { column in
            part(
                column.label, "column", UInt64(used * column.meanSize / values),
                "\(Phrase.size(column.meanSize)) a row, \(Phrase.percent(column.emptyShare)) of the rows without a value"
            )
        }
        if table.unused > 0 { members.append(part("unused", "free", table.unused, "unused bytes within its pages")) }
        members += table.indexes.filter { $0.size > 0 }.map { index in
            part(index.name, "index", index.size, "index on " + index.columns.joined(separator: ", "))
        }
        let size = table.indexes.reduce(table.size) { $0 &+ $1.size }
        let name = table.entity.map { "\(table.name) (\($0))" } ?? table.name
        return part(name, "table", size, Phrase.count(table.rows, "row"), members)
    }

    private static func part(
        _ name: String, _ kind: String, _ size: UInt64, _ remark: String, _ parts: [JSONValue] = []
    ) -> JSONValue {
        .object([
            ("name", .string(name)), ("kind", .string(kind)), ("size", .unsigned(size)), ("remark", .string(remark)),
            ("parts", .array(parts)),
        ])
    }
}
