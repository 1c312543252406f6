package import FaultlineTrace

/// A scope that was opened, or that events refer to.
package struct OpenScope: Sendable {
    /// The name and kind, or `nil` before the scope's own event arrives.
    package var key: ScopeSummary.Key?
    /// The line that opened it, if the trace has it.
    package var site: CallSite?
    /// The enclosing scope, or 0 if there is none.
    var outer: EventID = 0
    var start: UInt64?
    /// The time the scope was open, in nanoseconds, or `nil` before it is closed.
    package var wallTime: UInt64?
    var isLossy = false
    /// The work in the scope, without nested scopes.
    var own = Work()
    /// The work in nested scopes that have been summed up.
    var inner = Work()
    /// The evidence for which the scope's wall time was counted.
    var counted: Set<EvidenceReference> = []
    /// The part of `counted` that is still owed the wall time, because it came before the scope closed.
    var owed: Set<EvidenceReference> = []

    /// The work that the store did.
    struct Work: Sendable {
        var netTime: Int64 = 0
        var statementTrips: UInt64 = 0
        var claimedTrips: UInt64 = 0
        var rows: UInt64 = 0

        var trips: UInt64 { max(statementTrips, claimedTrips) }
    }
}

/// The surroundings of one occurrence.
package struct Surroundings {
    /// Whether events were lost in it.
    var isLossy: Bool
    /// The scope, or `nil` if its name is unknown.
    package var scope: ScopeSummary.Key?
    /// In nanoseconds, or 0 if it was already counted for the same evidence.
    package var wallTime: UInt64 = 0

    package var lossyOccurrences: UInt64 { isLossy ? 1 : 0 }
    package var scopes: [ScopeSummary.Key: UInt64] { scope.map { [$0: 1] } ?? [:] }
}

extension ProcessContext {
    mutating func add(_ scope: TraceEvent.Scope, _ event: TraceEvent, to tables: inout ProfileTables) {
        let key = ScopeSummary.Key(name: dictionary.name(scope.name) ?? "", kind: scope.kind)
        let site = stackSite(of: event.stack)
        let begun = scopes.peek(event.id).flatMap { $0.start == nil ? nil : $0.key }
        changeScope(event.id, in: &tables) { open in
            open.key = key
            open.site = site ?? open.site
            open.outer = event.scope
            switch scope.phase {
            case .begin: open.start = event.start
            case .end:
                if let start = open.start {
                    open.wallTime = event.end > start ? event.end - start : 0
                } else if event.duration > 0 {
                    open.wallTime = event.duration
                }
            }
        }
        switch scope.phase {
        case .begin: tables.scopes[key, default: ScopeSummary(key)].count &+= 1
        case .end:
            if let begun, begun != key {
                // The name of a request is known only once its own code runs.
                tables.scopes[key, default: ScopeSummary(key)].count &+= 1
                tables.scopes[begun]?.count &-= 1
                if tables.scopes[begun]?.count == 0 { tables.scopes[begun] = nil }
            }
            tables.scopes[key, default: ScopeSummary(key)].ends &+= 1
            guard let wallTime = scopes.peek(event.id)?.wallTime else { return }
            tables.scopes[key, default: ScopeSummary(key)].wallTimes.record(wallTime)
            let owed = scopes.update(event.id) { scope in
                defer { scope.owed = [] }
                return scope.owed
            }
            for evidence in owed ?? [] { endedWallTimes.append((evidence, wallTime)) }
        }
    }

    /// Returns the surroundings of an event in a scope.
    ///
    /// The scope's wall time counts once for each piece of evidence.
    ///
    /// - Parameter wallTime: The wall time to use outside any scope, in nanoseconds.
    package mutating func surroundings(
        of scope: EventID, for evidence: EvidenceReference, outside wallTime: UInt64
    ) -> Surroundings {
        guard let open = scopes.peek(scope) else {
            return Surroundings(isLossy: hasLossOutsideScopes, wallTime: wallTime)
        }
        var surroundings = Surroundings(isLossy: unit(of: scope).isLossy, scope: open.key)
        scopes.update(scope) { scope in
            guard scope.counted.insert(evidence).inserted else { return }
            if let wallTime = scope.wallTime { surroundings.wallTime = wallTime } else { scope.owed.insert(evidence) }
        } ?? ()
        return surroundings
    }

    /// Changes a scope, and creates it if its own event has not arrived.
    mutating func changeScope(_ id: EventID, in tables: inout ProfileTables, _ change: (inout OpenScope) -> Void) {
        guard id != 0 else { return }
        if scopes.update(id, change) != nil { return }
        var scope = OpenScope()
        change(&scope)
        guard let evicted = scopes.insert(scope, for: id) else { return }
        close(evicted.value, in: &tables)
        observeMost(of: evicted.value, in: &tables)
    }

    mutating func addTrip(scope: EventID, isStatement: Bool, count: UInt64 = 1, to tables: inout ProfileTables) {
        changeScope(scope, in: &tables) {
            if isStatement { $0.own.statementTrips &+= count } else { $0.own.claimedTrips &+= count }
        }
    }

    /// Adds the work of a scope to the sums of its name and kind, and to the enclosing scopes.
    mutating func close(_ scope: OpenScope, in tables: inout ProfileTables) {
        var keys: Set<ScopeSummary.Key> = []
        var current: OpenScope? = scope
        var depth = 0
        while let open = current, depth < 64 {
            if let key = open.key { keys.insert(key) }
            current =
                open.outer == 0
                ? nil
                : scopes.update(open.outer) {
                    $0.inner.statementTrips &+= scope.own.trips
                    $0.inner.rows &+= scope.own.rows
                    return $0
                }
            depth &+= 1
        }
        for key in keys {
            tables.scopes[key, default: ScopeSummary(key)].netTime &+= scope.own.netTime
            tables.scopes[key]?.trips &+= scope.own.trips
            tables.scopes[key]?.rows &+= scope.own.rows
        }
    }

    /// Updates the maxima of a scope's name and kind.
    ///
    /// The nested scopes must be summed up.
    mutating func observeMost(of scope: OpenScope, in tables: inout ProfileTables) {
        guard let key = scope.key else { return }
        tables.scopes[key]?.observeOne(
            trips: scope.own.trips &+ scope.inner.trips, rows: scope.own.rows &+ scope.inner.rows,
            isLossy: scope.isLossy)
    }

    /// The scope that stands for the unit of work an event belongs to: the innermost scope with a kind other than
    /// `other`, or else the outermost scope.
    package func unit(of scope: EventID) -> (id: EventID, isSetup: Bool, isLossy: Bool) {
        var unit: EventID = scope
        var isDecided = false
        var isSetup = false
        var isLossy = false
        var current = scope
        var depth = 0
        while current != 0, depth < 64, let open = scopes.peek(current) {
            if !isDecided {
                unit = current
                isLossy = isLossy || open.isLossy
                isDecided = open.key.map { $0.kind != .other } ?? false
            }
            isSetup = isSetup || open.key?.kind == .setup
            current = open.outer
            depth &+= 1
        }
        return (unit, isSetup, isLossy)
    }

    /// Whether the work in a scope is set-up, which rules ignore.
    package func isSetup(_ scope: EventID) -> Bool {
        scope != 0 && unit(of: scope).isSetup
    }
}
