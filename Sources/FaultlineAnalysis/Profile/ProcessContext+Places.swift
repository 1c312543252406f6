internal import FaultlineTrace

/// What decides where in the program an event happened, so that it is worked out once.
struct SiteCacheKey: Sendable, Hashable {
    var kind: EventKind
    var site: DictionaryID
    var stack: DictionaryID
}

extension ProcessContext {
    mutating func observePlace(of event: TraceEvent) {
        guard event.kind != .cacheMiss else { return }
        summary.counts.eventsWithPlace &+= 1
        if callSite(of: event) == nil { summary.counts.eventsWithoutSite &+= 1 }
        guard event.stack != 0 else { return }
        summary.counts.eventsWithStack &+= 1
        if dictionary.stack(event.stack)?.isTruncated == true { summary.counts.truncatedStacks &+= 1 }
        if stackSite(of: event)?.isAddress ?? true { summary.counts.unresolvedStacks &+= 1 }
    }

    /// Where the program asked for what happened.
    mutating func callSite(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: event.kind, site: event.site, stack: event.stack)) { $0.callSite(of: event) }
    }

    /// Where in the program it happened, by the event's stack alone.
    mutating func stackSite(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: .scope, site: 0, stack: event.stack)) { $0.stackSite(of: event) }
    }

    /// The line of a static site.
    mutating func callSite(of site: DictionaryID) -> CallSite? {
        site == 0 ? nil : callSite(of: TraceEvent(site: site, .wait(TraceEvent.Wait())))
    }

    mutating func stackSite(of stack: DictionaryID) -> CallSite? {
        stackSite(of: TraceEvent(stack: stack, .scope(TraceEvent.Scope())))
    }

    private mutating func site(_ key: SiteCacheKey, _ find: (inout CallSiteResolver) -> CallSite?) -> CallSite? {
        if let site = siteCache[key] { return site }
        // Taken out and put back, so that it is changed in place and not copied.
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        let site = find(&resolver)
        self.resolver = resolver
        siteCache[key] = .some(site)
        return site
    }

    /// Where a fault fired or a batch was loaded; the static site only where there is no stack.
    mutating func causeSite(of event: TraceEvent) -> CallSite? {
        stackSite(of: event) ?? callSite(of: event)
    }

    /// Where the function that holds the event's line was called.
    mutating func caller(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: .use, site: 0, stack: event.stack)) { resolver in
            let callers = resolver.callers(of: event, limit: 2)
            return callers.count == 2 ? callers[1] : nil
        }
    }
}
