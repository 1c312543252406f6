internal import FaultlineTrace

// Texts that sort tables independently of the order of events.

extension ShapeEntry {
    var sortText: String {
        let parts = [entity, predicate, sort.joined(separator: ","), prefetch.joined(separator: ","), resultType]
        let expressions = ((expressions ?? []) + (groups ?? []) + (having.map { [$0] } ?? [])).map { "\u{1}" + $0 }
            .joined()
        return parts.joined(separator: "\u{1}") + (isLimited ? "\u{1}limit" : "") + expressions
            + (terms.map(Self.forms) ?? "") + (hasUnrecordedValues == true ? "\u{1}values unrecorded" : "")
            + (includesPropertyValues == false ? "\u{1}keys" : "")
    }

    /// The terms, marked to distinguish an empty list from none.
    private static func forms(_ terms: [Term]) -> String {
        "\u{1}terms"
            + terms.flatMap { term -> [String?] in
                let flags = [term.isAlternative, term.isNegated, term.isFolded].map { $0.map { $0 ? "1" : "0" } ?? "-" }
                return [term.keyPath, term.operation, term.operand, term.options, term.wildcards] + flags
            }
            .map { "\u{1}" + ($0 ?? "-") }.joined()
    }
}

extension EntityEntry {
    /// All data of the entity except the limit of its store's row cache.
    var text: String {
        ([name, root ?? ""]
            + properties.flatMap { property in
                [
                    property.name, property.type, property.declaredAt ?? "", property.destination ?? "",
                    property.inverse ?? "",
                    property.isExternal.map { $0 ? "1" : "0" } ?? "-",
                ]
            }).joined(separator: "\u{1}")
    }
}

extension CallSite {
    var sortText: String {
        let digits = String(line)
        return file + ":" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits + ":" + function
    }
}
