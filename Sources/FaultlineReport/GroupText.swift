internal import FaultlineAnalysis
internal import FaultlineTrace

/// Words for groups of events.
enum GroupText {
    /// What the events of a group were about: `Item where name = ?`, `Item.list`.
    static func subject(_ key: EventGroup.Key) -> String {
        switch key.subject {
        case .shape(let shape): return self.shape(shape)
        case .entity(let name): return name
        case .relationship(let entity, let name): return entity.isEmpty ? name : "\(entity).\(name)"
        case .statement(let sql): return sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        case .saved(let entities): return entities.joined(separator: ", ")
        case .named(let name): return name
        case .unknown: return "?"
        }
    }

    /// A fetch request in words: `Item where name = ? by name`.
    static func shape(_ shape: ShapeEntry) -> String {
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

    /// A sort key, whose direction needs saying only if it is downwards.
    private static func sort(_ key: String) -> String {
        key.hasSuffix(" ascending") ? String(key.dropLast(10)) : key
    }

    /// A figure of a group's durations; `–` where the trace tells none of them.
    static func time(_ group: EventGroup, _ figure: (Distribution) -> UInt64) -> String {
        group.durations.count == 0 && group.untimed > 0 ? "–" : Phrase.duration(figure(group.durations))
    }

    /// A group's rows; `–` where the trace tells those of none of its events.
    static func rows(_ group: EventGroup) -> String {
        group.uncounted > 0 && group.uncounted == group.count ? "–" : Phrase.count(group.counts.rows)
    }

    /// The kind of a group, with what tells it apart: `fault`, `fault (cached)`.
    static func kind(_ key: EventGroup.Key) -> String {
        switch key.source {
        case .rowCache: "fault (cached)"
        case .gone: "fault (gone)"
        case .store, nil: key.kind.name
        }
    }
}
