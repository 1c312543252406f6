internal import FaultlineFindings
package import FaultlineProfile
internal import FaultlineRules
package import FaultlineTrace

/// The wording of groups of events.
package enum GroupText {
    /// The subject of an event, without values: a request, a statement, or `fault of Item.list`.
    ///
    /// A fetch and its batches have the same shape. It is `nil` for an event that asked for nothing, such as a sample.
    package static func shape(of event: TraceEvent, in dictionary: TraceDictionary) -> String? {
        let subject = EventGroup.Key.Subject(of: event, in: dictionary)
        switch subject {
        case .unknown: return nil
        case .shape, .statement: return self.subject(subject)
        case .named(""): return event.kind.name
        case .entity, .relationship, .saved, .named:
            return "\(event.kind.grouped.name) of \(self.subject(subject))"
        }
    }

    /// The subject of a group's events: `Item where name = ?`, `Item.list`.
    package static func subject(_ key: EventGroup.Key) -> String { subject(key.subject) }

    package static func subject(_ subject: EventGroup.Key.Subject) -> String {
        switch subject {
        case .shape(let shape): return self.shape(shape)
        case .entity(let name): return name
        case .relationship(let entity, let name): return entity.isEmpty ? name : "\(entity).\(name)"
        case .statement(let sql): return sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        case .saved(let entities): return entities.joined(separator: ", ")
        case .named(let name): return name
        case .unknown: return "?"
        }
    }

    /// A fetch request as text: `Item where name = ? by name`.
    package static func shape(_ shape: ShapeEntry) -> String {
        var text = shape.entity.isEmpty ? "?" : shape.entity
        if let expressions = shape.expressions {
            text += " (\(expressions.joined(separator: ", ")))"
        } else if shape.resultType != "objects" {
            text += " (\(shape.resultType))"
        }
        if !shape.predicate.isEmpty { text += " where \(shape.predicate)" }
        if let groups = shape.groups { text += " per \(groups.joined(separator: ", "))" }
        if let having = shape.having { text += " having \(having)" }
        if !shape.sort.isEmpty { text += " by \(shape.sort.map(sort).joined(separator: ", "))" }
        return text
    }

    /// A sort key.
    ///
    /// The direction is stated only if it is descending.
    private static func sort(_ key: String) -> String {
        key.hasSuffix(" ascending") ? String(key.dropLast(10)) : key
    }

    /// The rows of a group, or `–` if the trace has no row count for any of its events.
    package static func rows(_ group: EventGroup) -> String {
        group.uncounted > 0 && group.uncounted == group.count ? "–" : Phrase.count(group.counts.rows)
    }

    /// The kind of a group with its distinction: `fault`, `fault (cached)`.
    package static func kind(_ key: EventGroup.Key) -> String {
        switch key.source {
        case .rowCache: "fault (cached)"
        case .gone: "fault (gone)"
        case .store, nil: key.kind.name
        }
    }
}
