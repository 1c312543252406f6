internal import CTraceSchema
public import FaultlineTrace

extension EventGroup.Key.Subject {
    /// Creates the subject of an event.
    ///
    /// - Parameter dictionary: The dictionary of the event's process.
    /// - Complexity: O(1), or O(n log n) in the entities of a save or a merge.
    public init(of event: TraceEvent, in dictionary: TraceDictionary) {
        let entity = { (id: DictionaryID) -> Self in dictionary.entity(id).map { .entity($0.name) } ?? .unknown }
        let request = { (shape: DictionaryID, id: DictionaryID) -> Self in
            dictionary.shape(shape).map { .shape($0) } ?? entity(id)
        }
        let saved = { (changes: [TraceEvent.Save.Change]) -> Self in
            .saved(changes.compactMap { dictionary.entity($0.entity)?.name }.sorted())
        }
        self =
            switch event.detail {
            case .fetch(let fetch): request(fetch.shape, fetch.entity)
            case .batch(let batch): request(batch.shape, batch.entity)
            case .fault(let fault): Self(of: fault, in: dictionary)
            case .cacheHits(let hits): Self(of: hits, in: dictionary)
            case .cacheMiss(let miss): entity(miss.entity)
            case .save(let save): saved(save.entities)
            case .sql(let sql): dictionary.statement(sql.statement).map { .statement($0.sql) } ?? .unknown
            case .merge(let merge): saved(merge.entities)
            case .refresh(let refresh): refresh.entity == 0 ? .named("objects") : entity(refresh.entity)
            case .wait(let wait): .named("\(wait.resource)")
            case .migration(let migration):
                .named(
                    ["\(migration.stage)", dictionary.name(migration.name)].compactMap { $0 }.joined(separator: " "))
            default: event.kind.isWork ? Self(titleOf: event, in: dictionary) : .unknown
            }
    }

    /// The subject of a kind that needs no words of its own: what the title of its events says.
    private init(titleOf event: TraceEvent, in dictionary: TraceDictionary) {
        guard let (field, value) = event.titleValue else {
            self = .unknown
            return
        }
        let id = DictionaryID(truncatingIfNeeded: value)
        self =
            switch field.meaning {
            case .reference(.FL_DICTIONARY_ENTITY): dictionary.entity(id).map { .entity($0.name) } ?? .unknown
            case .reference(.FL_DICTIONARY_STATEMENT): dictionary.statement(id).map { .statement($0.sql) } ?? .unknown
            case .reference(.FL_DICTIONARY_NAME): dictionary.name(id).map { .named($0) } ?? .unknown
            case .enumeration(let words): EventSchema.word(value, of: words).map { .named($0) } ?? .unknown
            default: .unknown
            }
    }

    private init(of fault: some FaultEvent, in dictionary: TraceDictionary) {
        let entity = { (id: DictionaryID) in dictionary.entity(id)?.name }
        if let name = dictionary.name(fault.relationship) {
            self = .relationship(entity: entity(fault.relationshipEntity) ?? "", name: name)
        } else {
            self = entity(fault.entity).map { .entity($0) } ?? .unknown
        }
    }

    /// Whether two subjects are of the same form, so that they can be compared.
    func isComparable(with other: Self) -> Bool {
        switch (self, other) {
        case (.shape, .shape), (.entity, .entity), (.relationship, .relationship), (.statement, .statement),
            (.saved, .saved), (.named, .named):
            true
        default: false
        }
    }
}

extension EventKind {
    /// The kind under which events of this kind are grouped.
    ///
    /// Faults that the row cache filled belong together, whether they are recorded one by one or in sums.
    package var grouped: EventKind { self == .cacheHits ? .fault : self }
}
