package import FaultlineTrace

/// Facts about a stack that every event counts.
///
/// Their cache is separate from the call sites', which are copied when read.
struct StackFacts: Sendable {
    var isTruncated: Bool
    /// Whether no frame has a name.
    var isUnresolved: Bool
    /// Whether a frame belongs to the program.
    var hasSite: Bool
}

extension ProcessContext {
    mutating func observeSite(of event: TraceEvent) {
        guard event.kind != .cacheMiss else { return }
        summary.counts.eventsWithPlace &+= 1
        let facts = event.stack == 0 ? nil : facts(of: event.stack)
        let hasSite = facts?.hasSite == true || event.site != 0 && callSite(of: event.site) != nil
        if !hasSite { summary.counts.eventsWithoutSite &+= 1 }
        guard let facts else { return }
        summary.counts.eventsWithStack &+= 1
        if facts.isTruncated { summary.counts.truncatedStacks &+= 1 }
        if facts.isUnresolved { summary.counts.unresolvedStacks &+= 1 }
    }

    /// The line of the program that asked for the operation.
    package mutating func callSite(of event: TraceEvent) -> CallSite? {
        if event.site != 0, let site = callSite(of: event.site) { return site }
        return stackSite(of: event.stack)
    }

    /// The line of the program, from the event's stack alone.
    package mutating func stackSite(of event: TraceEvent) -> CallSite? { stackSite(of: event.stack) }

    /// The line of a static call site.
    package mutating func callSite(of site: DictionaryID) -> CallSite? {
        if let known = sites[site] { return known }
        let found = dictionary.site(site).map { CallSite($0) }
        sites[site] = .some(found)
        return found
    }

    mutating func stackSite(of stack: DictionaryID) -> CallSite? {
        if stack == 0 { return nil }
        if let known = stackSites[stack] { return known }
        let event = TraceEvent(stack: stack, .scope(TraceEvent.Scope()))
        let site = resolving { $0.stackSite(of: event) }
        stackSites[stack] = .some(site)
        return site
    }

    private mutating func facts(of stack: DictionaryID) -> StackFacts {
        if let known = stackFacts[stack] { return known }
        let site = stackSite(of: stack)
        let facts = StackFacts(
            isTruncated: dictionary.stack(stack)?.isTruncated == true, isUnresolved: site?.isAddress ?? true,
            hasSite: site != nil)
        stackFacts[stack] = facts
        return facts
    }

    private mutating func resolving(_ find: (inout CallSiteResolver) -> CallSite?) -> CallSite? {
        // Taken out and put back, so it is changed in place instead of copied.
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        defer { self.resolver = resolver }
        return find(&resolver)
    }

    /// The line where a fault fired or a batch was loaded.
    ///
    /// Without a stack, it is the static call site.
    package mutating func causeSite(of event: TraceEvent) -> CallSite? {
        stackSite(of: event) ?? callSite(of: event)
    }

    /// Whether the recording is a log of a library's statements.
    package var isOfLog: Bool { summary.library != nil }

    /// The library that ran a statement for the program.
    package mutating func library(on stack: DictionaryID) -> StatementLibrary? {
        if let known = libraries[stack] { return known }
        let library = summary.library ?? StatementLibrary(frames(on: stack))
        libraries[stack] = .some(library)
        return library
    }

    /// Whether a mapper keeps all rows of a statement that ran on a stack.
    package func keepsAllRows(on stack: DictionaryID) -> Bool { StatementLibrary.keepsAllRows(frames(on: stack)) }

    /// Whether SQLAlchemy reads an object again because it expired.
    package func readsExpired(on stack: DictionaryID) -> Bool { StatementLibrary.readsExpired(frames(on: stack)) }

    func frames(on stack: DictionaryID) -> [FrameEntry] {
        dictionary.stack(stack)?.addresses.compactMap { dictionary.frame(at: $0) } ?? []
    }

    /// The call in which an event's statement was repeated, or `nil` if that is not known.
    package mutating func activation(of event: TraceEvent) -> Activation? {
        guard case .sql(let statement) = event.detail, statement.level > 0 else { return nil }
        let place = StackPlace(stack: event.stack, level: statement.level)
        let known: Activation?
        if let found = activations[place] {
            known = found
        } else {
            known = Activation(frames(on: event.stack).filter(\.isPython), level: Int(statement.level))
            activations[place] = .some(known)
        }
        guard var activation = known else { return nil }
        (activation.task, activation.number) = statement.activation.quotientAndRemainder(dividingBy: Activation.calls)
        return activation
    }

    /// The line that called the function with the event's line.
    package mutating func caller(of event: TraceEvent) -> CallSite? {
        if let known = callers[event.stack] { return known }
        let caller = resolving { resolver in
            let callers = resolver.callers(of: event, limit: 2)
            return callers.count == 2 ? callers[1] : nil
        }
        callers[event.stack] = .some(caller)
        return caller
    }
}
