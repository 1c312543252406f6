public import FaultlineAnalysis

/// The inspection of a store at rest as JSON: its contents and what to change.
///
/// Sizes are in bytes.
public struct InspectionJSON: Sendable {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    public static let version = 1

    let inspection: StoreInspection

    public init(_ inspection: StoreInspection) {
        self.inspection = inspection
    }

    /// Returns the JSON, with a trailing line feed.
    public func render() -> String {
        let facts = inspection.facts
        return JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "path": .string(facts.path), "size": .unsigned(facts.size),
            "pageSize": .unsigned(facts.pageSize), "pages": .unsigned(facts.pages),
            "freePages": .unsigned(facts.freePages), "journalMode": .string(facts.journalMode),
            "isCoreData": .bool(facts.isCoreData), "hasStatistics": .bool(facts.hasStatistics),
            "tables": .array(facts.tables.map(Self.table)),
            "isFaultline": .bool(facts.isFaultline), "others": .array(facts.others.map(Self.part)),
            "withdrawn": .array(
                inspection.withdrawn.map {
                    .sorted([
                        "rule": .string($0.rule), "title": .string($0.title.text), "reason": .string($0.reason.text),
                    ])
                }), "untried": .integer(Int64(inspection.untried)),
            "findings": .array(inspection.findings.map(FindingJSON.value)),
            "checks": .array(
                inspection.checks.map {
                    .sorted([
                        "rule": .string($0.rule), "name": .string($0.name),
                        "examined": .optional($0.examined?.text), "findings": .integer(Int64($0.findings)),
                    ])
                }),
        ]).indented + "\n"
    }

    private static func table(_ table: StoreFacts.Table) -> JSONValue {
        .sorted([
            "name": .string(table.name), "entity": .optional(table.entity),
            "rows": .unsigned(table.rows), "size": .unsigned(table.size), "unused": .unsigned(table.unused),
            "jumps": .unsigned(table.jumps), "sampled": .unsigned(table.sampled),
            "problem": .optional(table.problem),
            "kinds": .sorted(table.kinds.mapValues { .unsigned($0) }), "columns": .array(table.columns.map(column)),
            "indexes": .array(table.indexes.map(index)), "references": .array(table.references.map(reference)),
        ])
    }

    private static func part(_ part: StoreFacts.Part) -> JSONValue {
        .sorted([
            "kind": .string(part.kind.rawValue), "name": .string(part.name), "tables": .unsigned(part.tables),
            "rows": .unsigned(part.rows), "size": .unsigned(part.size), "seconds": .number(part.seconds),
        ])
    }

    private static func column(_ column: StoreFacts.Column) -> JSONValue {
        .sorted([
            "name": .string(column.name), "property": .optional(column.property),
            "type": .string(column.type), "emptyShare": .number(column.emptyShare),
            "meanSize": .number(column.meanSize),
            "largestSize": .unsigned(column.largestSize), "largeShare": .number(column.largeShare),
            "isInternal": .bool(column.isInternal), "isComputed": .bool(column.isComputed),
            "emptyKinds": .array(column.emptyKinds.sorted().map { .string($0) }),
        ])
    }

    private static func index(_ index: StoreFacts.Index) -> JSONValue {
        .sorted([
            "name": .string(index.name), "columns": .array(index.columns.map { .string($0) }),
            "isUnique": .bool(index.isUnique), "hasExpressions": .bool(index.hasExpressions),
            "isPartial": .bool(index.isPartial),
            "isConstraint": .bool(index.isConstraint), "isOfTheStore": .bool(index.belongsToStore),
            "isOfTheModel": index.belongsToModel.map { .bool($0) } ?? .null,
            "size": .unsigned(index.size),
        ])
    }

    private static func reference(_ reference: StoreFacts.Reference) -> JSONValue {
        .sorted([
            "column": .string(reference.column), "table": .string(reference.table),
            "filled": .unsigned(reference.filled), "distinct": .unsigned(reference.distinct),
        ])
    }
}
