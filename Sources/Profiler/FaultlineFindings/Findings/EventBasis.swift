package import FaultlineProfile
package import FaultlineTrace

/// The events that a finding rests on, described by their kinds, lines and subjects.
///
/// A profile does not keep the events themselves, so that a description of them finds them again in the trace.
package struct EventBasis: Sendable, Hashable {
    /// The kinds of the events.
    ///
    /// With ``EventKind/cacheMiss`` among them, faults that the row cache filled are not.
    package internal(set) var kinds: Set<EventKind> = []
    /// The lines at which they happened; `nil` stands for events without a known line.
    package internal(set) var sites: Set<CallSite?> = []
    /// The subjects that events of the same form must have.
    package internal(set) var subjects: Set<EventGroup.Key.Subject> = []

    /// Whether an event matches the description.
    ///
    /// No finding rests on events within a scope of set-up, which ``SetupScopes`` recognizes.
    ///
    /// - Parameters:
    ///   - sites: The lines of the event: the call that asked for it, and the one that triggered it.
    ///   - subject: The event's subject. One of a form that ``subjects`` does not have says nothing against the event:
    ///     a fetch is known by its shape, and the statement that it ran is not.
    /// - Complexity: O(`subjects`).
    package func contains(
        _ event: TraceEvent, at sites: [CallSite?], _ subject: @autoclosure () -> EventGroup.Key.Subject
    ) -> Bool {
        guard containsKind(of: event), sites.contains(where: self.sites.contains) else { return false }
        return subjects.isEmpty || allows(subject())
    }

    /// Whether the finding rests on the events of a group.
    package func contains(_ key: EventGroup.Key) -> Bool {
        guard kinds.contains(key.kind), sites.contains(key.site) || (key.fetchSite.map { sites.contains($0) } ?? false)
        else { return false }
        return allows(key.subject)
    }

    private func allows(_ subject: EventGroup.Key.Subject) -> Bool {
        let comparable = subjects.filter { $0.isComparable(with: subject) }
        return comparable.isEmpty || comparable.contains(subject)
    }

    private func containsKind(of event: TraceEvent) -> Bool {
        switch event.detail {
        case .cacheHits: kinds.contains(.fault) && !kinds.contains(.cacheMiss)
        case .fault(let fault) where fault.source == .rowCache:
            kinds.contains(.fault) && !kinds.contains(.cacheMiss)
        default: kinds.contains(event.kind)
        }
    }
}

extension EventBasis: CustomStringConvertible {
    /// The kinds, lines and subjects in alphabetical order.
    package var description: String {
        let parts = [
            kinds.map(\.name), sites.map { $0?.description ?? "unknown line" }, subjects.map { String(describing: $0) },
        ]
        return parts.map { $0.sorted().joined(separator: ", ") }.joined(separator: "; ")
    }
}

extension Finding {
    /// Describes the events that the finding rests on.
    ///
    /// - Parameter kinds: The kinds of events that its rule examines.
    package mutating func describeBasis(_ kinds: Set<EventKind>) {
        var claimed = subjects
        for claim in claims {
            switch claim.account {
            case .loads(let fetch): claimed.append(.shape(fetch.shape))
            case .preparing(let statement): claimed.append(.statement(statement.sql))
            case .evidence: break
            }
        }
        let sites = Set(seenAt.map(\.site) + [change])
        let known = sites.filter { $0 != nil }
        basis = EventBasis(kinds: kinds, sites: known.isEmpty ? sites : known, subjects: Set(claimed))
    }
}
