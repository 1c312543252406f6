internal import FaultlineProfile
internal import FaultlineTrace

/// Pairs the operations of two runs, even if lines moved between them.
enum OperationAlignment {
    /// An operation's identity without its line and its prefetched relationships.
    private struct Name: Hashable {
        var key: EventGroup.Key

        init(_ key: EventGroup.Key) {
            self.key = key
            self.key.site = nil
            self.key.fetchSite = nil
            if case .shape(var shape) = key.subject {
                shape.prefetch = []
                shape.terms = nil
                self.key.subject = .shape(shape)
            }
        }
    }

    /// Pairs each operation with its counterpart, or `nil` if it has none.
    ///
    /// Lines are matched exactly first, then within functions, then within files, then by the function's name. An
    /// operation whose line did not move therefore never loses its counterpart to one that moved.
    static func pairs(_ before: [EventGroup], _ after: [EventGroup]) -> [(EventGroup?, EventGroup?)] {
        let old = Dictionary(grouping: before) { Name($0.key) }
        let new = Dictionary(grouping: after) { Name($0.key) }
        return Set(old.keys).union(new.keys).flatMap { match(old[$0] ?? [], new[$0] ?? []) }
    }

    private static func match(_ before: [EventGroup], _ after: [EventGroup]) -> [(EventGroup?, EventGroup?)] {
        var pairs: [(EventGroup?, EventGroup?)] = []
        var (old, new) = (inOrder(before), inOrder(after))
        for location in locations {
            var candidates = Dictionary(grouping: new.indices) { location(new[$0].key) }
            var taken: Set<Int> = []
            old.removeAll { group in
                let key = location(group.key)
                guard !key.isEmpty, let index = candidates[key]?.first else { return false }
                candidates[key]?.removeFirst()
                taken.insert(index)
                pairs.append((group, new[index]))
                return true
            }
            new = new.indices.filter { !taken.contains($0) }.map { new[$0] }
        }
        return pairs + old.map { ($0, nil) } + new.map { (nil, $0) }
    }

    private static func inOrder(_ groups: [EventGroup]) -> [EventGroup] {
        groups.ordered(on: \.key.sortText)
    }

    /// The texts that identify a place, from narrow to wide.
    ///
    /// An empty text matches nothing.
    private static let locations: [@Sendable (EventGroup.Key) -> String] = [
        { key in both(key) { "\($0.fileName):\($0.line):\($0.line == 0 ? $0.function : "")" } + "." },
        { key in both(key) { "\($0.fileName):\($0.function)" } },
        { key in both(key) { String($0.fileName) } },
        { key in both(key) { $0.function } },
    ]

    private static func both(_ key: EventGroup.Key, _ text: (CallSite) -> String) -> String {
        [key.site, key.fetchSite].compactMap { $0.map(text) }.joined(separator: "|")
    }
}
