internal import FaultlineTrace

/// The values that a profile file lists once and refers to by number: call sites, shapes and scopes.
package struct ProfileWords: Sendable {
    private(set) var sites = Words<CallSite, String>()
    private(set) var shapes = Words<ShapeEntry, ShapeEntry>()
    private(set) var scopes = Words<ScopeSummary.Key, ScopeSummary.Key>()

    /// Values of one kind, numbered in the order of their first use.
    ///
    /// - Parameter Spelling: Distinguishes the values. For call sites it is stricter than equality.
    struct Words<Word: Sendable, Spelling: Hashable & Sendable>: Sendable {
        fileprivate(set) var words: [Word] = []
        private var numbers: [Spelling: Int] = [:]

        fileprivate mutating func number(of word: Word, spelled spelling: Spelling) -> StoredValue {
            let number = numbers[spelling] ?? words.count
            if number == words.count {
                words.append(word)
                numbers[spelling] = number
            }
            return .number(Int64(number))
        }

        fileprivate func word(_ value: StoredValue, _ what: String) throws -> Word {
            let number = try value.count()
            guard number < words.count else { throw StoredProblem(expected: "the number of \(what)") }
            return words[Int(number)]
        }
    }

    mutating func number(of site: CallSite) -> StoredValue { sites.number(of: site, spelled: site.sortText) }
    mutating func number(of shape: ShapeEntry) -> StoredValue { shapes.number(of: shape, spelled: shape) }
    mutating func number(of scope: ScopeSummary.Key) -> StoredValue { scopes.number(of: scope, spelled: scope) }

    func site(_ number: StoredValue) throws -> CallSite { try sites.word(number, "a call site") }
    func shape(_ number: StoredValue) throws -> ShapeEntry { try shapes.word(number, "a shape") }
    func scope(_ number: StoredValue) throws -> ScopeSummary.Key { try scopes.word(number, "a scope") }
}

extension ProfileWords {
    /// The lists, as members of the file.
    var stored: [String: StoredValue] {
        [
            "sites": .list(
                sites.words.map { .list([.text($0.file), StoredValue(UInt64(max(0, $0.line))), .text($0.function)]) }),
            "shapes": .list(shapes.words.map(\.stored)),
            "scopes": .list(scopes.words.map { .list([.text($0.name), .text("\($0.kind)")]) }),
        ]
    }

    /// Reads the lists of a file.
    init(_ file: StoredValue) throws {
        sites.words = try file.member("sites") { sites in
            try sites.map { site in
                let parts = try site.list(of: 3)
                let line = try StoredProblem.within("1") { try parts[1].count() }
                return CallSite(file: try parts[0].text(), line: Int(line), function: try parts[2].text())
            }
        }
        shapes.words = try file.member("shapes") { try $0.map { try ShapeEntry($0) } }
        scopes.words = try file.member("scopes") { scopes in
            try scopes.map { scope in
                let parts = try scope.list(of: 2)
                let kind = try StoredProblem.within("1") { try TraceEvent.Scope.Kind(word: parts[1]) }
                return ScopeSummary.Key(name: try parts[0].text(), kind: kind)
            }
        }
    }
}

// MARK: - Entries of the trace's dictionary

extension ShapeEntry {
    fileprivate var stored: StoredValue {
        var members: [String: StoredValue] = [
            "entity": .text(entity), "predicate": .text(predicate), "sort": StoredValue(sort),
            "prefetch": StoredValue(prefetch), "isLimited": StoredValue(isLimited), "resultType": .text(resultType),
        ]
        members["expressions"] = expressions.map { StoredValue($0) }
        members["groups"] = groups.map { StoredValue($0) }
        members["having"] = having.map { .text($0) }
        members["terms"] = terms.map { .list($0.map(\.stored)) }
        members["hasUnrecordedValues"] = hasUnrecordedValues.map { StoredValue($0) }
        members["includesPropertyValues"] = includesPropertyValues.map { StoredValue($0) }
        return .record(members)
    }

    fileprivate init(_ value: StoredValue) throws {
        self.init(
            entity: try value.member("entity") { try $0.text() },
            predicate: try value.member("predicate") { try $0.text() },
            sort: try value.member("sort") { try $0.texts() },
            prefetch: try value.member("prefetch") { try $0.texts() },
            isLimited: try value.member("isLimited") { try $0.count() != 0 },
            resultType: try value.member("resultType") { try $0.text() },
            expressions: try value.member("expressions") { try $0.optionalTexts() },
            groups: try value.member("groups") { try $0.optionalTexts() },
            having: try value.member("having") { try $0.optionalText() },
            terms: try value.member("terms") { $0 == .none ? nil : try $0.map { try Term($0) } },
            hasUnrecordedValues: try value.member("hasUnrecordedValues") { try $0.optionalFlag() },
            includesPropertyValues: try value.member("includesPropertyValues") { try $0.optionalFlag() })
    }
}

extension ShapeEntry.Term {
    fileprivate var stored: StoredValue {
        var members: [String: StoredValue] = [
            "keyPath": .text(keyPath), "operation": .text(operation), "operand": .text(operand),
        ]
        members["options"] = options.map { .text($0) }
        members["wildcards"] = wildcards.map { .text($0) }
        members["isAlternative"] = isAlternative.map { StoredValue($0) }
        members["isNegated"] = isNegated.map { StoredValue($0) }
        members["isFolded"] = isFolded.map { StoredValue($0) }
        return .record(members)
    }

    fileprivate init(_ value: StoredValue) throws {
        let flag = { (name: String) in try value.member(name) { try $0.optionalFlag() } }
        self.init(
            keyPath: try value.member("keyPath") { try $0.text() },
            operation: try value.member("operation") { try $0.text() },
            operand: try value.member("operand") { try $0.text() },
            options: try value.member("options") { try $0.optionalText() },
            wildcards: try value.member("wildcards") { try $0.optionalText() },
            isAlternative: try flag("isAlternative"), isNegated: try flag("isNegated"), isFolded: try flag("isFolded"))
    }
}

extension EntityEntry {
    var stored: StoredValue {
        var members: [String: StoredValue] = [
            "name": .text(name),
            "properties": .list(
                properties.map { property in
                    var members: [String: StoredValue] = ["name": .text(property.name), "type": .text(property.type)]
                    members["declaredAt"] = property.declaredAt.map { .text($0) }
                    members["isExternal"] = property.isExternal.map { StoredValue($0) }
                    members["destination"] = property.destination.map { .text($0) }
                    members["inverse"] = property.inverse.map { .text($0) }
                    return .record(members)
                }),
        ]
        members["root"] = root.map { .text($0) }
        members["rowCacheLimit"] = rowCacheLimit.map { StoredValue($0) }
        return .record(members)
    }

    init(_ value: StoredValue) throws {
        let properties = try value.member("properties") { properties in
            try properties.map { property in
                Property(
                    name: try property.member("name") { try $0.text() },
                    type: try property.member("type") { try $0.text() },
                    declaredAt: try property.member("declaredAt") { try $0.optionalText() },
                    isExternal: try property.member("isExternal") { try $0.optionalFlag() },
                    destination: try property.member("destination") { try $0.optionalText() },
                    inverse: try property.member("inverse") { try $0.optionalText() })
            }
        }
        self.init(
            name: try value.member("name") { try $0.text() }, root: try value.member("root") { try $0.optionalText() },
            properties: properties,
            rowCacheLimit: try value.member("rowCacheLimit") { try $0.optionalCount() })
    }
}
