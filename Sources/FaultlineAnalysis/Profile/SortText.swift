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

extension FetchProfile.Key {
    var sortText: String { shape.sortText + "\u{2}" + (site?.sortText ?? "") }
}

extension LoopEvidence.Key {
    var sortText: String { fetch.sortText + "\u{2}" + (term.map { String($0) } ?? "") }
}

extension FaultEvidence.Key {
    var sortText: String {
        switch subject {
        case .relationship(let entity, let name): fetch.sortText + "\u{2}\(entity).\(name)"
        case .target(let entity): fetch.sortText + "\u{2}\(entity)"
        }
    }
}

extension EventGroup.Key {
    var sortText: String {
        let subject =
            switch self.subject {
            case .shape(let shape): shape.sortText
            case .entity(let name): name
            case .relationship(let entity, let name): entity + ".\u{1}" + name
            case .statement(let sql): sql
            case .saved(let entities): "\u{1}saved" + entities.joined(separator: "\u{1}")
            case .named(let name): "\u{1}named" + name
            case .unknown: ""
            }
        let type = faultType.map { String($0.rawValue) } ?? statementType.map { String($0.rawValue) } ?? ""
        let from = source.map { String($0.rawValue) } ?? ""
        return [kind.name, subject, type, from, site?.sortText ?? "", fetchSite?.sortText ?? ""]
            .joined(separator: "\u{2}")
    }
}
