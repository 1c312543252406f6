internal import CTraceSchema
package import FaultlineTrace

/// A group of events that did the same from the same call site.
package struct EventGroup: Sendable {
    /// The properties that the events of a group share.
    package struct Key: Sendable, Hashable {
        /// The subject of the events.
        package enum Subject: Sendable, Hashable {
            /// A fetch request without its values.
            case shape(ShapeEntry)
            /// An entity, by name.
            case entity(String)
            /// A relationship, by the name of its entity and its own name.
            case relationship(entity: String, name: String)
            /// A statement's text.
            case statement(String)
            /// The entities that were saved or merged, in alphabetical order.
            case saved([String])
            /// The resource of a wait, or another subject with a name of its own.
            case named(String)
            /// A subject that the trace does not have.
            case unknown
        }

        package var kind: EventKind
        package var subject: Subject
        /// The type of a fault, or `nil` for other kinds.
        package var faultType: TraceEvent.Fault.FaultType?
        /// The source of a fault's data, or `nil` for other kinds.
        package var source: TraceEvent.Fault.Source?
        /// The type of a statement, or `nil` for other kinds.
        package var statementType: TraceEvent.Statement.StatementType?
        /// The call site.
        ///
        /// A fault or a batch has the line that caused it, and a fetch or a save has its own.
        package var site: CallSite?
        /// For a batch, the line of its fetch.
        ///
        /// `nil` for other kinds.
        package var fetchSite: CallSite?
    }

    package internal(set) var key: Key
    /// The number of recordings that have such events.
    package internal(set) var recordings: UInt64 = 1
    /// The durations of the events, in nanoseconds.
    package internal(set) var durations = Distribution()
    /// The durations without waits for a CPU, if those were recorded, in nanoseconds.
    package var ownDurations: Distribution { ownTime.times(durations) }
    /// The time span of the events.
    package var span = TimeSpan()
    fileprivate(set) var ownTime = OwnTime()
    /// The time that no child event accounts for, in nanoseconds.
    package var selfTime: UInt64 { UInt64(max(0, netTime)) }
    /// The time on the main thread, in nanoseconds.
    package internal(set) var mainThreadTime: UInt64 = 0
    package internal(set) var counts = Counts()
    /// The number of events without a duration in the trace.
    ///
    /// They are not in ``durations``.
    package internal(set) var untimed: UInt64 = 0
    /// The number of events without a row count in the trace.
    package internal(set) var uncounted: UInt64 = 0

    /// The sum of durations minus the time of child events.
    ///
    /// It is signed, because an event's children can be counted before it.
    var netTime: Int64 = 0

    package var count: UInt64 { durations.count &+ untimed }
    package var totalTime: UInt64 { durations.total }

    package init(_ key: Key) {
        self.key = key
    }

    /// Adds faults that the row cache filled.
    ///
    /// Each of them counts with their mean time, rounded so that the sum is theirs.
    mutating func add(_ hits: TraceEvent.CacheHits, _ event: TraceEvent) {
        durations.record(sum: hits.time, of: hits.hits)
        span.add(event)
        counts.rows &+= hits.filled
        counts.bytes &+= hits.bytes
        counts.cacheHits &+= hits.hits
        if event.isMainThread { mainThreadTime &+= hits.time }
    }

    /// Adds the duration and the time span of an event.
    mutating func addTime(of event: TraceEvent) {
        ownTime.record(event, beside: durations)
        durations.record(event.duration)
        span.add(event)
    }
}

extension EventGroup: KeyedSum {
    package static let parts: [SumPart<EventGroup>] = [
        .sum("mainThreadTime", \.mainThreadTime),
        // The own times come first: their merge needs the durations from before the merge.
        OwnTime.part("ownTime", \.ownTime), .part("durations", \.durations), .part("span", \.span),
        .part("netTime", \.netTime),
        .part("counts", \.counts), .sum("untimed", \.untimed), .sum("uncounted", \.uncounted),
    ]
}

extension EventGroup.Key: ProfileKey {
    package static var hasSpellings: Bool { true }

    package var sortText: String {
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

    /// The kind, the subject, the fault's type and source, the statement's type, and the call sites of the event and
    /// its fetch.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([
            kind.stored(&words), subject.stored(&words), faultType.stored(&words), source.stored(&words),
            statementType.stored(&words), site.stored(&words), fetchSite.stored(&words),
        ])
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 7)
        self.init(
            kind: try EventKind(parts[0], words), subject: try Subject(parts[1], words),
            faultType: try TraceEvent.Fault.FaultType?(parts[2], words),
            source: try TraceEvent.Fault.Source?(parts[3], words),
            statementType: try TraceEvent.Statement.StatementType?(parts[4], words),
            site: try CallSite?(parts[5], words), fetchSite: try CallSite?(parts[6], words))
    }
}

extension EventGroup.Key.Subject {
    fileprivate func stored(_ words: inout ProfileWords) -> StoredValue {
        switch self {
        case .shape(let shape): .list([.text("shape"), shape.stored(&words)])
        case .entity(let name): .list([.text("entity"), .text(name)])
        case .relationship(let entity, let name): .list([.text("relationship"), .text(entity), .text(name)])
        case .statement(let sql): .list([.text("statement"), .text(sql)])
        case .saved(let entities): .list([.text("saved"), StoredValue(entities)])
        case .named(let name): .list([.text("named"), .text(name)])
        case .unknown: .none
        }
    }

    fileprivate init(_ value: StoredValue, _ words: ProfileWords) throws {
        guard value != .none else {
            self = .unknown
            return
        }
        let parts = try value.list()
        switch (try parts.first?.text(), parts.count) {
        case ("shape", 2): self = .shape(try ShapeEntry(parts[1], words))
        case ("entity", 2): self = .entity(try parts[1].text())
        case ("relationship", 3): self = .relationship(entity: try parts[1].text(), name: try parts[2].text())
        case ("statement", 2): self = .statement(try parts[1].text())
        case ("saved", 2): self = .saved(try parts[1].texts())
        case ("named", 2): self = .named(try parts[1].text())
        default: throw StoredProblem(expected: "a group's subject")
        }
    }
}

extension EventGroup.Key.Subject {
    /// Creates the subject of an event.
    ///
    /// - Parameter dictionary: The dictionary of the event's process.
    /// - Complexity: O(1), or O(n log n) in the entities of a save or a merge.
    package init(of event: TraceEvent, in dictionary: TraceDictionary) {
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

    /// The subject of a kind that needs no words of its own: what the title of its events says, or nothing if they have none.
    private init(titleOf event: TraceEvent, in dictionary: TraceDictionary) {
        guard let (field, value) = event.titleValue else {
            self = .named("")
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
    package func isComparable(with other: Self) -> Bool {
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
