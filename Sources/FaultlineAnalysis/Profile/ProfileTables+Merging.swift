internal import FaultlineTrace

extension ProfileTables: Summed {
    /// All but the evidence, whose parts depend on the detectors.
    static let parts: [SumPart<ProfileTables>] = [
        sums("groups", of: \.groups) { $0.insert($1) }, sums("fetches", of: \.fetches) { $0.insert($1) },
        sums("shapeLoads", of: \.shapes) { $0.insert($1) },
        sums("scopeSums", of: \.scopeList) { $0.insert($1) },
        .part("destinationUses", \.destinationUses), .part("indexes", \.indexes),
        .part("changes", \.changes), .part("loads", \.loads),
        .part("saveLoads", \.saveLoads),
        .part("statementLoads", \.statements), .part("calibration", \.calibration),
        .part("steps", \.steps), entities,
    ]

    mutating func merge(_ other: ProfileTables) {
        mergeParts(other)
        evidence.merge(other.evidence)
    }

    /// A part for sums with keys, sorted by key.
    private static func sums<Sum: KeyedSum>(
        _ name: String, of path: any KeyPath<ProfileTables, [Sum]> & Sendable,
        _ insert: @escaping @Sendable (inout ProfileTables, Sum) -> Void
    ) -> SumPart<ProfileTables> {
        SumPart(
            name: name, merge: { tables, other in for sum in other[keyPath: path] { insert(&tables, sum) } },
            store: { tables, words in
                .list(tables[keyPath: path].ordered(on: \.key.sortText).map { $0.storedPair(&words) })
            },
            restore: { tables, value, words in
                for sum in try value.map({ try Sum(pair: $0, words) }) { insert(&tables, sum) }
            })
    }

    private static let entities = SumPart<ProfileTables>(
        name: "entities", merge: { tables, other in for entity in other.model.values { tables.insert(entity) } },
        store: { tables, _ in .list(tables.model.values.ordered(on: \.name).map(\.stored)) },
        restore: { tables, value, _ in for entity in try value.map({ try EntityEntry($0) }) { tables.insert(entity) } })

    /// Rehashes the samples of a trace before it is merged with others.
    mutating func mixSamples(_ salt: UInt64) {
        loads.mix(salt)
        saveLoads.mix(salt)
        statements.mix(salt)
        calibration.mix(salt)
        for index in fetches.indices {
            changeFetch(index) {
                $0.sample.mix(salt)
                $0.pages.mix(salt)
            }
        }
        for index in shapes.indices {
            changeShape(index) {
                $0.rows.mix(salt)
                $0.identities.mix(salt)
            }
        }
    }

    private var scopeList: [ScopeSummary] { Array(scopes.values) }

    private mutating func insert(_ group: EventGroup) {
        let index = self.group(group.key)
        changeGroup(index) { $0.mergeKeyed(group) }
    }

    private mutating func insert(_ fetch: FetchProfile) {
        let index = self.fetch(fetch.key)
        changeFetch(index) { $0.mergeKeyed(fetch) }
    }

    private mutating func insert(_ loads: ShapeLoads) {
        let index = shape(loads.shape)
        changeShape(index) { $0.mergeKeyed(loads) }
    }

    private mutating func insert(_ scope: ScopeSummary) {
        scopes[scope.key, default: ScopeSummary(scope.key)].mergeKeyed(scope)
    }
}
