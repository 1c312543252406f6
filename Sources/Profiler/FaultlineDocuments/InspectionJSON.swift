internal import FaultlineFindings
package import FaultlineRules

extension StoreInspection: JSONDocument {
    package static let name = "inspect"
    package static let title = "The inspection of a store"
    package static let summary = "The output of `faultline inspect --format json`. Sizes are in bytes."
    package static let members: JSONMembers<StoreInspection> = [
        .init("path", \.facts.path), .init("size", "The file's size, in bytes.", \.facts.size),
        .init("pageSize", "A page's size, in bytes.", \.facts.pageSize), .init("pages", \.facts.pages),
        .init("freePages", \.facts.freePages), .init("journalMode", \.facts.journalMode),
        .init("isCoreData", \.facts.isCoreData),
        .init("hasStatistics", "Whether ANALYZE has run.", \.facts.hasStatistics),
        .init("isFaultline", "Whether Faultline's store made it.", \.facts.isFaultline),
        .init("tables", \.facts.tables), .init("others", "Groups of tables that hold no objects.", \.facts.others),
        .init("withdrawn", "Findings that a trial refuted.", \.withdrawn),
        .init("untried", "Findings that were not tried.", \.untried), .init("findings", \.findings),
        .init("checks") { $0.checks.map(Check.init) },
    ]

    private struct Check: JSONObject {
        let check: RuleCheck

        static let members: JSONMembers<Check> = [
            .init("rule", \.check.rule), .init("name", \.check.name),
            .init("examined", "The data that the rule examined.") { $0.check.examined?.text },
            .init("findings", \.check.findings),
        ]
    }
}

extension WithdrawnAdvice: JSONObject {
    package static let members: JSONMembers<WithdrawnAdvice> = [
        .init("rule", \.rule), .init("title", \.title.text), .init("reason", \.reason.text),
    ]
}

extension StoreFacts.Table: JSONObject {
    package static let members: JSONMembers<StoreFacts.Table> = [
        .init("name", \.name), .init("entity", \.entity), .init("rows", \.rows),
        .init("size", "The table's size, in bytes.", \.size),
        .init("unused", "Unused space in its pages, in bytes.", \.unused),
        .init("jumps", "Pages that do not follow the one before.", \.jumps),
        .init("sampled", "The number of sampled rows.", \.sampled),
        .init("problem", "Why it could not be read.", \.problem),
        .init("kinds", "The sampled rows of each entity, if the table has several.", \.kinds),
        .init("columns", \.columns), .init("indexes", \.indexes), .init("references", \.references),
    ]
}

extension StoreFacts.Part: JSONObject {
    package static let members: JSONMembers<StoreFacts.Part> = [
        .init("kind", \.kind), .init("name", \.name), .init("tables", \.tables), .init("rows", \.rows),
        .init("size", "The size with indexes, in bytes.", \.size),
        .init("seconds", "For history, the time between its first and last transaction.", \.seconds),
    ]
}

extension StoreFacts.Part.Kind: JSONWord {}

extension StoreFacts.Column: JSONObject {
    package static let members: JSONMembers<StoreFacts.Column> = [
        .init("name", \.name), .init("property", \.property), .init("type", \.type),
        .share("emptyShare", "The share of sampled rows without a value.", \.emptyShare),
        .init("meanSize", "In bytes.", \.meanSize),
        .init("largestSize", "The 95th percentile of the values' sizes, in bytes.", \.largestSize),
        .share("largeShare", "The share of values of at least 16 KiB.", \.largeShare),
        .init("isInternal", \.isInternal), .init("isComputed", \.isComputed),
        .init("emptyKinds", "The entities whose rows never have a value.") { $0.emptyKinds.sorted() },
    ]
}

extension StoreFacts.Index: JSONObject {
    package static let members: JSONMembers<StoreFacts.Index> = [
        .init("name", \.name), .init("columns", \.columns), .init("isUnique", \.isUnique),
        .init("hasExpressions", \.hasExpressions), .init("isPartial", \.isPartial),
        .init("isConstraint", \.isConstraint),
        .init("isOfTheStore", "Whether the store makes it for every model.", \.belongsToStore),
        .init("isOfTheModel", "Null if no model was given.", \.belongsToModel),
        .init("size", "The index's size, in bytes.", \.size),
    ]
}

extension StoreFacts.Reference: JSONObject {
    package static let members: JSONMembers<StoreFacts.Reference> = [
        .init("column", \.column), .init("table", \.table), .init("filled", \.filled), .init("distinct", \.distinct),
    ]
}
