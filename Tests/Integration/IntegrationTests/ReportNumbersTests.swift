import Testing

/// Every figure of a report is computed again from the printed events, by code that shares nothing with the analysis.
@Suite("The numbers of a report can be computed from the events")
struct ReportNumbersTests {
    /// A list with all flaws, a program that saves, and a program with every flaw of its own.
    enum Subject: CaseIterable {
        case groceries, library, music

        func trace() throws -> String {
            switch self {
            case .groceries: try GroceriesRun(items: 120, rows: 10, flaws: "all").trace
            case .library: try OutsideProgram.record().trace
            case .music: try MusicProgram.record(MusicProgram.flaws.map(\.scenario), isNaive: true)
            }
        }
    }

    private typealias Event = RecordedEvents.Event

    @Test("Totals, groups, sums by name and scopes match the events", arguments: Subject.allCases)
    func everything(subject: Subject) throws {
        let trace = try subject.trace()
        let report = try ReportDocument(of: trace)
        let events = try RecordedEvents(of: trace)
        checkTotals(report, events)
        checkGroups(report.groups, events)
        checkSums(report.byEntity, events.timed) { event in
            event.kind == "fault" && event.relationshipName != nil ? event.relationshipEntityName : event.entityName
        }
        checkSums(report.byRelationship, events.timed.filter { $0.kind == "fault" }) { event in
            event.relationshipName.map { "\(event.relationshipEntityName ?? "").\($0)" }
        }
        checkSums(report.byStatement, events.of("sql")) { $0.sql }
        checkScopes(report.scopes, events)
        checkEvidence(report.findings, events)
        try checkText(trace, report)
    }

    // MARK: - Totals

    private func checkTotals(_ report: ReportDocument, _ events: RecordedEvents) {
        let totals = report.totals
        let kinds = Dictionary(grouping: events.all.filter { $0.kind != "process" && $0.kind != "lost" }, by: \.kind)
        #expect(totals.events == kinds.mapValues { UInt64($0.count) })
        #expect(totals.eventCount == UInt64(kinds.values.reduce(0) { $0 + $1.count }))
        let outermost = events.onThreads.filter { $0.parent == 0 }
        #expect(totals.storeTime == outermost.sum(\.duration))
        #expect(totals.mainThreadStoreTime == outermost.filter { $0.isMainThread == true }.sum(\.duration))
        let statements = Dictionary(grouping: events.of("sql"), by: { $0.type ?? "" }).mapValues { UInt64($0.count) }
        #expect(totals.reads == statements["read"])
        #expect(totals.readTrips == totals.reads)
        #expect(totals.outermostReads == UInt64(outermost.filter { $0.kind == "sql" && $0.type == "read" }.count))
        #expect(totals.writes == statements["write"] ?? 0)
        #expect(totals.transactions == statements["transaction"] ?? 0)
        #expect(totals.schemaStatements == statements["schema"] ?? 0)
        let missed = events.of("fault").filter { $0.source != "rowCache" }
        #expect(totals.faultTrips == UInt64(missed.count))
        #expect(totals.claimedTrips == events.of("fetch", "batch").sum(\.trips) + UInt64(missed.count))
        let unbatched = events.of("fetch").filter { $0.batchSize == 0 && $0.resultType == "objects" }
        #expect(
            totals.rowsLoaded == unbatched.sum(\.rows) + events.of("batch").sum(\.rows) + missed.sum(\.filled)
                + events.all.sum(\.prefetchedRows))
        #expect(
            totals.bytesRead == events.of("fetch", "batch").sum(\.bytes) + missed.sum(\.bytes)
                + events.all.sum(\.prefetchedBytes))
        #expect(totals.bytesWritten == events.of("save").sum(\.bytes))
        #expect(totals.overhead == events.all.sum(\.overhead))
        let recorded = events.timed.filter { $0.id != nil } + events.of("cacheHits")
        #expect(totals.eventsOutsideScopes == UInt64(recorded.filter { $0.scope == 0 }.count))
        let processes = events.of("process")
        let (began, ended) = (processes.first { $0.phase == "began" }, processes.first { $0.phase == "ended" })
        #expect(report.processes.count == 1)
        #expect(report.wallTime == (ended?.start ?? 0) - (began?.start ?? 0))
        #expect(report.processes.first?.wallTime == report.wallTime)
        #expect(report.processes.first?.writing == ended?.writing)
        #expect(report.processes.first?.lost == ended?.lost)
    }

    // MARK: - Groups

    private struct Key: Hashable, CustomStringConvertible {
        var kind, subject: String
        var site, fetchSite: String?
        var faultType, source, statementType: String?

        var description: String { [kind, subject, site ?? "", source ?? ""].joined(separator: " ") }
    }

    private func key(_ event: Event, fetchSites: [UInt64: String]) -> Key {
        var key = Key(kind: event.kind, subject: "")
        switch event.kind {
        case "fetch", "batch": key.subject = event.shapeName ?? "?"
        case "save", "merge": key.subject = (event.entities ?? []).map(\.entityName).sorted().joined(separator: ", ")
        case "refresh": key.subject = event.entityName ?? "objects"
        case "wait": key.subject = event.resource ?? ""
        case "sql": key.subject = (event.sql ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        default:
            key.subject =
                event.relationshipName.map { "\(event.relationshipEntityName ?? "").\($0)" } ?? event.entityName ?? "?"
        }
        // Work that another event caused counts where it was caused.
        let isCaused = ["fault", "cacheMiss", "batch"].contains(event.kind)
        key.site = (isCaused ? event.stackSite ?? event.callSite : event.callSite)?.text
        if event.kind == "fault" { (key.faultType, key.source) = (event.type, event.source) }
        if event.kind == "sql" { key.statementType = event.type }
        if event.kind == "batch" { key.fetchSite = event.fetch.flatMap { fetchSites[$0] } }
        return key
    }

    private func checkGroups(_ groups: [ReportDocument.Group], _ events: RecordedEvents) {
        var fetchSites: [UInt64: String] = [:]
        for fetch in events.of("fetch") { fetchSites[fetch.id ?? 0] = fetch.callSite?.text }
        let expected = Dictionary(grouping: events.timed) { key($0, fetchSites: fetchSites) }
        let found = Dictionary(grouping: groups) { group in
            Key(
                kind: group.kind, subject: group.subject, site: group.site?.text, fetchSite: group.fetchSite?.text,
                faultType: group.faultType, source: group.source, statementType: group.statementType)
        }
        #expect(Set(found.keys) == Set(expected.keys))
        let within = Dictionary(grouping: events.onThreads.filter { $0.kind != "cacheMiss" }, by: { $0.parent ?? 0 })
            .mapValues { $0.sum(\.duration) }
        for (key, members) in expected {
            guard let group = found[key]?.first else { continue }
            checkDurations(group.durations, members, "\(key)")
            #expect(group.counts == counts(members), "\(key)")
            #expect(
                group.mainThreadTime
                    == members.filter { $0.isMainThread == true && $0.isBlocking != false }.sum(\.duration), "\(key)")
            guard key.kind != "cacheMiss" else { continue }
            // Statements within a cache miss count for the fault around it.
            let misses = events.of("cacheMiss").reduce(into: [UInt64: UInt64]()) {
                $0[$1.parent ?? 0, default: 0] += within[$1.id ?? 0] ?? 0
            }
            let inside = members.filter { $0.id != nil }.sum {
                (within[$0.id ?? 0] ?? 0) + (misses[$0.id ?? 0] ?? 0)
            }
            #expect(Int64(group.selfTime) == max(0, Int64(members.sum(\.duration)) - Int64(inside)), "\(key)")
        }
    }

    private func checkDurations(_ durations: ReportDocument.Durations, _ events: [Event], _ what: String) {
        let sorted = events.compactMap(\.duration).sorted()
        #expect(durations.count == UInt64(sorted.count), "\(what)")
        #expect(durations.total == sorted.reduce(0, +), "\(what)")
        #expect(durations.max == sorted.last ?? 0, "\(what)")
        for (percent, value) in [(50, durations.p50), (90, durations.p90), (99, durations.p99)] {
            let exact = sorted[max(1, (sorted.count * percent + 99) / 100) - 1]
            // Large sets of values are counted in buckets with a relative width of at most 1 %.
            #expect(value >= exact && Double(value) <= Double(exact) * 1.01, "\(what): \(percent) %")
        }
    }

    private func counts(_ events: [Event]) -> [String: UInt64] {
        let faults = events.filter { $0.kind == "fault" }
        let cached = UInt64(faults.filter { $0.source == "rowCache" }.count)
        let misses = UInt64(events.filter { $0.kind == "cacheMiss" }.count)
        let reads = UInt64(events.filter { $0.kind == "sql" && $0.type == "read" }.count)
        let saves = events.filter { $0.kind == "save" }
        return [
            "rows": events.filter { $0.kind != "use" }.sum(\.rows) + faults.sum(\.filled) + saves.sum(\.inserted)
                + saves.sum(\.updated) + saves.sum(\.deleted) + events.sum(\.objects) + events.sum(\.refreshed),
            "prefetchedRows": events.sum(\.prefetchedRows),
            "bytes": events.sum(\.bytes) + events.sum(\.prefetchedBytes),
            "trips": events.sum(\.trips) + UInt64(faults.count) - cached + reads,
            "cacheHits": events.sum(\.cacheHits) + cached, "cacheMisses": events.sum(\.cacheMisses) + misses,
            "wait": events.sum(\.wait) + events.sum(\.lockWait)
                + events.filter { $0.kind == "wait" }.sum(\.duration), "prepare": events.sum(\.prepare),
            "step": events.sum(\.step),
            "materialise": events.sum(\.materialise), "commit": events.sum(\.commit),
            "inserted": events.sum(\.inserted),
            "updated": events.sum(\.updated), "deleted": events.sum(\.deleted), "conflicts": events.sum(\.conflicts),
            "unchanged": events.sum(\.unchanged),
            "fullScanSteps": events.sum(\.fullScanSteps), "sorts": events.sum(\.sorts),
            "automaticIndexes": events.sum(\.automaticIndexes),
            "virtualMachineSteps": events.sum(\.virtualMachineSteps),
            "preparations": events.sum(\.preparations), "pageHits": events.sum(\.pageHits),
            "pageMisses": events.sum(\.pageMisses), "fileReads": events.sum(\.fileReads),
            "fileWrites": events.sum(\.fileWrites), "syncs": events.sum(\.syncs), "syncTime": events.sum(\.syncTime),
            "logged": UInt64(events.filter { ($0.log ?? 0) > 0 }.count),
            "errors": UInt64(events.filter { ($0.error ?? 0) != 0 }.count),
        ]
    }

    private func checkSums(_ sums: [ReportDocument.Sum], _ events: [Event], by name: (Event) -> String?) {
        struct Place: Hashable {
            var name, kind: String
        }
        let expected = Dictionary(grouping: events.filter { name($0) != nil }) {
            Place(name: name($0) ?? "", kind: $0.kind)
        }
        #expect(Set(sums.map { Place(name: $0.name, kind: $0.kind) }) == Set(expected.keys))
        for sum in sums {
            guard let members = expected[Place(name: sum.name, kind: sum.kind)] else { continue }
            checkDurations(sum.durations, members, "\(sum.kind) \(sum.name)")
            #expect(sum.counts == counts(members), "\(sum.kind) \(sum.name)")
        }
    }

    // MARK: - Scopes

    private func checkScopes(_ scopes: [ReportDocument.Scope], _ events: RecordedEvents) {
        let ends = Dictionary(grouping: events.of("scope").filter { $0.phase == "end" }) {
            "\($0.scopeName ?? "") \($0.scopeKind ?? "")"
        }
        #expect(Set(scopes.map { "\($0.name) \($0.kind)" }) == Set(ends.keys))
        for scope in scopes {
            let members = ends["\(scope.name) \(scope.kind)"] ?? []
            var ids = Set(members.compactMap(\.id))
            // Work in inner scopes counts for the enclosing scopes too.
            var inner = ids
            while !inner.isEmpty {
                inner = Set(
                    events.of("scope").filter { inner.contains($0.scope ?? 0) }.compactMap(\.id)
                ).subtracting(ids)
                ids.formUnion(inner)
            }
            let inside = events.timed.filter { ids.contains($0.scope ?? 0) }
            #expect(scope.count == UInt64(members.count))
            checkDurations(scope.wallTime, members, scope.name)
            #expect(scope.storeTime == inside.filter { $0.parent == 0 }.sum(\.duration))
            #expect(scope.trips == UInt64(inside.filter { $0.kind == "sql" && $0.type == "read" }.count))
        }
    }

    // MARK: - Findings

    private func checkEvidence(_ findings: [ReportDocument.Finding], _ events: RecordedEvents) {
        for finding in findings {
            switch finding.rule {
            case "R01": checkPrefetch(finding, events)
            case "R02": checkBatch(finding, events)
            case "R03" where finding.figure("unreadBytes") != nil: checkUnreadValue(finding, events)
            case "R03", "R05": checkResults(finding, events)
            case "R04": checkLoop(finding, events)
            case "R06": checkIndex(finding, events)
            case "R07": checkOrder(finding, events)
            case "R08": checkSearch(finding, events)
            case "R09": checkLargeValue(finding, events)
            case "R10": checkSaves(finding, events)
            case "R11": checkRefaults(finding, events)
            case "R13": checkWaits(finding, events)
            case "R14": checkUnbounded(finding, events)
            case "R17": checkUnused(finding, events)
            case "R18": checkRepeats(finding, events)
            case "R19": checkSort(finding, events)
            case "R20": checkUnusedPrefetch(finding, events)
            case "R23": checkUnchanged(finding, events)
            case "R25": checkHeld(finding, events)
            default: Issue.record("nobody checks the figures of \(finding.rule)")
            }
        }
    }

    private func checkPrefetch(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        // The relationship is the last of the advised key paths.
        let isCounted = finding.title.hasPrefix("Count ")
        let advised = finding.code.first.flatMap { $0.split(separator: "\"").dropLast().last }.map(String.init)
        // For counted members, the title contains the name: Count Album.tracks of all objects at once.
        let counted = finding.title.split(separator: " ")[1].split(separator: ".").last.map(String.init)
        let name = isCounted ? counted : advised
        let faults = events.of("fault").filter { $0.relationshipName == name && $0.source == "store" }
        #expect(!faults.isEmpty)
        #expect(finding.figure("trips") == Double(faults.count))
        #expect(finding.figure("objects") == Double(Set(faults.map(\.object)).count))
        #expect(finding.seenAt.reduce(0) { $0 + $1.time } == faults.sum(\.ownDuration))
        let loads = events.of("fetch").filter { $0.batchSize == 0 }.count + events.of("batch").count
        // Each load of rows whose faults fired needs one trip to prefetch for them.
        let fired = Set(faults.map { $0.scope ?? 0 }).count
        #expect(finding.saving.trips >= faults.count - max(loads, fired) && finding.saving.trips < faults.count)
    }

    private func checkBatch(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let size = finding.figure("batchSize")
        let uses = events.of("use").filter { Double($0.batchSize ?? 0) == size }
        #expect(finding.figure("matchedRows") == Double(uses.sum(\.rows)))
        #expect(finding.figure("loadedRows") == Double(uses.sum(\.loadedRows)))
        #expect(finding.figure("executions") == Double(uses.count))
        let windows = uses.flatMap { $0.windows ?? [] }.filter { $0.scopeKind == "screen" }
        let widths = windows.flatMap { Array(repeating: $0.rows, count: Int($0.times)) }.sorted()
        // A view of one item is a screen of its own, and not one of the list's.
        #expect(finding.figure("windowRows") == widths.last.map { Double($0) })
    }

    private func checkLargeValue(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let properties = events.of("use").flatMap { $0.properties ?? [] }.filter { property in
            property.name.map { finding.title.contains(".\($0) ") } ?? false
        }
        #expect(!properties.isEmpty)
        let sum = { (figure: (Event.Property) -> UInt64) in Double(properties.reduce(0) { $0 + figure($1) }) }
        #expect(finding.figure("rowsLoaded") == sum { $0.rowsLoaded })
        #expect(finding.figure("rowsRead") == sum { $0.rowsRead })
        #expect(finding.figure("bytes") == sum { $0.bytes })
        #expect(finding.figure("largeShare") == sum { $0.largeRows } / sum { $0.rowsLoaded })
    }

    /// Returns the fetches from a finding's line.
    private func fetches(_ finding: ReportDocument.Finding, _ events: RecordedEvents) -> [Event] {
        let fetches = events.of("fetch").filter { $0.callSite?.text == finding.change?.text }
        #expect(!fetches.isEmpty, "\(finding.title)")
        return fetches
    }

    private func uses(of fetches: [Event], _ events: RecordedEvents) -> [Event] {
        let ids = Set(fetches.map(\.id))
        return events.of("use").filter { ids.contains($0.fetch) && ($0.rows ?? 0) > 0 }
    }

    private func checkResults(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let uses = uses(of: fetches, events)
        #expect(finding.figure("executions") == Double(uses.count))
        #expect(finding.figure("rows") == Double(uses.sum(\.rows)))
        #expect(finding.figure("touchedRows") == Double(uses.sum(\.touchedRows)))
        #expect(finding.figure("mostTouched") == uses.compactMap(\.touchedRows).max().map { Double($0) })
        #expect(finding.figure("bytes") == Double(uses.sum(\.bytes)))
        guard finding.rule == "R05" else { return }
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        let counted = uses.filter { ($0.countAsked ?? 0) > ($0.emptinessAsked ?? 0) }
        #expect(finding.figure("counted") == Double(counted.count))
        #expect(uses.allSatisfy { $0.modifiedRows == 0 && $0.state == "closed" })
    }

    private func checkUnreadValue(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let properties = uses(of: fetches(finding, events), events).flatMap { $0.properties ?? [] }
        let unread = properties.filter { property in property.name.map { finding.title.contains(".\($0) ") } ?? false }
        #expect(!unread.isEmpty && unread.allSatisfy { $0.rowsRead == 0 })
        #expect(finding.figure("unreadBytes") == Double(unread.reduce(0) { $0 + $1.bytes }))
        #expect(finding.figure("bytes") == Double(properties.reduce(0) { $0 + $1.bytes }))
        #expect(finding.figure("rows") == Double(unread.reduce(0) { $0 + $1.rowsLoaded }))
    }

    private func checkLoop(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        #expect(finding.figure("executions") == Double(fetches.count))
        #expect(finding.figure("values") == Double(Set(fetches.map(\.operands)).count))
        #expect(finding.figure("rows") == Double(fetches.sum(\.rows)))
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        #expect(finding.saving.trips == fetches.count - 1)
        let scope = events.of("scope").filter { $0.phase == "end" && $0.id == fetches.first?.scope }
        #expect(finding.figure("wallTime") == Double(scope.sum(\.duration)))
    }

    private func checkSaves(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let saves = events.of("save").filter { $0.callSite?.text == finding.change?.text }
        #expect(finding.figure("saves") == Double(saves.count))
        #expect(finding.figure("objects") == Double(saves.sum(\.inserted)))
        #expect(finding.figure("saveTime") == Double(saves.sum(\.duration) - saves.sum(\.lockWait)))
        #expect(finding.figure("commit") == Double(saves.sum(\.commit)))
        let scope = events.of("scope").filter { $0.phase == "end" && $0.id == saves.first?.scope }
        #expect(finding.figure("wallTime") == Double(scope.sum(\.duration)))
    }

    private func checkWaits(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let waits = events.of("wait")
        #expect(finding.figure("waits") == Double(waits.count))
        #expect(finding.seenAt.map(\.time) == [waits.sum(\.duration)])
        #expect(finding.seenAt.map(\.site?.text) == [waits.first?.callSite?.text])
        // The lock owner was saving most of the time; the time to wake the waiter depends on the machine.
        #expect((finding.figure("waitTime") ?? 0) > 0.5 * Double(waits.sum(\.duration)))
        #expect((finding.figure("waitTime") ?? 0) <= Double(waits.sum(\.duration)))
    }

    private func checkSort(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let statements = statements(of: fetches, events)
        #expect(finding.figure("executions") == Double(fetches.count))
        #expect(finding.figure("rows") == Double(fetches.sum(\.rows)))
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        #expect(finding.figure("sorts") == Double(statements.sum(\.sorts)))
        let gone = statements.map { max($0.rows ?? 0, $0.fullScanSteps ?? 0) }
        #expect(finding.figure("sortedRows") == Double(gone.reduce(0, +)))
    }

    private func checkUnbounded(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let uses = uses(of: fetches(finding, events), events)
        #expect(finding.figure("executions") == Double(uses.count))
        #expect(finding.figure("rows") == Double(uses.sum(\.rows)))
        #expect(finding.figure("maximumRows") == uses.compactMap(\.rows).max().map { Double($0) })
        #expect(finding.figure("bytes") == Double(uses.sum(\.bytes)))
        #expect(uses.allSatisfy { $0.batchSize == 0 })
    }

    private func checkUnused(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let uses = uses(of: fetches, events)
        let unused = uses.filter { $0.touchedRows == 0 && $0.countAsked == 0 }
        let ids = Set(unused.map(\.fetch))
        #expect(finding.figure("results") == Double(uses.count))
        #expect(finding.figure("executions") == Double(unused.count))
        #expect(finding.figure("rows") == Double(unused.sum(\.rows)))
        #expect(finding.figure("fetchTime") == Double(fetches.filter { ids.contains($0.id) }.sum(\.ownDuration)))
    }

    private func checkRepeats(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        #expect(finding.figure("executions") == Double(fetches.count))
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        #expect(finding.figure("longest") == fetches.compactMap(\.ownDuration).max().map { Double($0) })
        #expect(finding.figure("trips") == Double(fetches.dropFirst().sum(\.trips)))
        #expect(finding.figure("rows") == Double(fetches.dropFirst().sum(\.rows)))
        #expect(finding.saving.trips == fetches.count - 1)
    }

    /// Returns the fetches' own statements, without those of prefetching.
    private func statements(of fetches: [Event], _ events: RecordedEvents) -> [Event] {
        let ids = Set(fetches.map(\.id))
        return events.of("sql").filter { ids.contains($0.parent) && $0.type == "read" }
    }

    private func checkIndex(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        #expect(finding.figure("executions") == Double(fetches.count))
        #expect(finding.figure("rows") == Double(fetches.sum(\.rows)))
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        #expect(finding.figure("fullScanSteps") == Double(statements(of: fetches, events).sum(\.fullScanSteps)))
    }

    private func checkOrder(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let statements = statements(of: fetches, events)
        #expect(finding.figure("rows") == Double(fetches.sum(\.rows)))
        #expect(finding.figure("fetchTime") == Double(fetches.sum(\.ownDuration)))
        #expect(finding.figure("textComparisons") == Double(statements.sum(\.textComparisons)))
        guard finding.title.hasPrefix("Compare ") else {
            // Each of 1,200 lyrics is compared, and then every title.
            #expect(finding.figure("firstShare") == 1)
            return #expect(statements.sum(\.textComparisons) == 2400 * UInt64(statements.count))
        }
        #expect(finding.figure("textMatches") == Double(statements.sum(\.textMatches)))
        // Each of 1,200 titles is compared.
        #expect(statements.sum(\.textComparisons) == 1200 * UInt64(statements.count))
    }

    private func checkUnusedPrefetch(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let ids = Set(fetches.map(\.id))
        let loads = fetches + events.of("batch").filter { ids.contains($0.fetch) }
        let own = loads.flatMap { load in (load.prefetches ?? []).map { ($0, time: load.own($0.duration)) } }
            .filter { finding.title.contains("\"\($0.0.path)\"") }
        let prefetches = own.map(\.0)
        #expect(finding.figure("loads") == Double(prefetches.count { $0.trips > 0 }))
        #expect(finding.figure("prefetchTrips") == Double(prefetches.reduce(0) { $0 + $1.trips }))
        #expect(finding.figure("prefetchedRows") == Double(prefetches.reduce(0) { $0 + $1.rows }))
        #expect(finding.figure("prefetchTime") == Double(own.reduce(0) { $0 + $1.time }))
        let faults = events.of("fault").filter { $0.relationshipName == "tracks" && ids.contains($0.origin ?? 0) }
        #expect(finding.figure("asked") == Double(faults.count))
    }

    private func checkRefaults(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let faults = events.of("fault").filter {
            $0.source == "store" && $0.stackSite?.text == finding.seenAt.first?.site?.text
        }
        #expect(!faults.isEmpty)
        #expect(finding.figure("misses") == Double(faults.count))
        #expect(finding.figure("repeats") == Double(faults.filter { $0.seenBefore == true }.count))
        #expect(finding.figure("repeatTime") == Double(faults.filter { $0.seenBefore == true }.sum(\.ownDuration)))
    }

    private func checkHeld(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let faults = events.of("fault").filter {
            $0.isWatched == true && $0.stackSite?.text == finding.change?.text && ($0.scope ?? 0) > 0
        }
        #expect(finding.figure("objects") == Double(faults.count))
        let closed = events.of("scope").filter { $0.phase == "end" }
        let ends = Dictionary(closed.map { ($0.id ?? 0, $0.start ?? 0) }) { first, _ in first }
        let releases = Dictionary(events.of("release").map { ($0.fault ?? 0, $0.start ?? 0) }) { first, _ in first }
        let outlived = faults.filter { (releases[$0.id ?? 0] ?? .max) > (ends[$0.scope ?? 0] ?? .max) }
        // The list's result holds its rows for a while.
        #expect((finding.figure("kept") ?? 0) <= Double(outlived.count))
        #expect((finding.figure("most") ?? 0) >= 3)
    }

    private func checkUnchanged(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let saves = events.of("save").filter { $0.callSite?.text == finding.change?.text }
        #expect(finding.figure("saves") == Double(saves.count))
        #expect(finding.figure("unchanged") == Double(saves.sum(\.unchanged)))
        #expect(finding.figure("saveTime") == Double(saves.sum(\.duration)))
        #expect(saves.sum(\.updated) == 0)
    }

    private func checkSearch(_ finding: ReportDocument.Finding, _ events: RecordedEvents) {
        let fetches = fetches(finding, events)
        let statements = statements(of: fetches, events)
        #expect(finding.figure("executions") == Double(fetches.count))
        #expect(finding.figure("rows") == Double(fetches.sum(\.rows)))
        #expect(finding.figure("fullScanSteps") == Double(statements.sum(\.fullScanSteps)))
        #expect(finding.figure("virtualMachineSteps") == Double(statements.sum(\.virtualMachineSteps)))
        // Each of 1,200 tracks is compared.
        #expect(finding.figure("candidates") == 1200)
    }

    // MARK: - Text

    /// Checks that the text's tables contain the JSON's figures, rounded to three digits.
    private func checkText(_ trace: String, _ report: ReportDocument) throws {
        let lines = try BuiltCommand.run(["report", trace]).output.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("Hotspots") })
        let hotspots = report.groups.filter { !["cacheMiss", "sql"].contains($0.kind) }.prefix(8)
        for (line, group) in zip(lines[(start + 2)...], hotspots) {
            // A wide table also has the spread of durations, in blocks.
            let cells = line.split(separator: "  ", omittingEmptySubsequences: true).map { $0.trimmed }
                .filter { !$0.contains { "▁▂▃▄▅▆▇█".contains($0) } }
            try #require(cells.count == 8, "\(line)")
            #expect(cells[2].withoutCommas == String(group.durations.count))
            #expect(isShort(cells[3], of: group.durations.p50), "\(line)")
            #expect(isShort(cells[4], of: group.durations.p99), "\(line)")
            #expect(cells[5].withoutCommas == String(group.counts["rows"] ?? 0))
            #expect(isShort(cells[6], of: group.durations.total), "\(line)")
            #expect(cells[7] == group.site?.text)
        }
        let all = try BuiltCommand.run(["report", "--all", trace]).output.split(separator: "\n")
        let facts = try #require(all.first { $0.contains("statements: ") }.map(String.init))
        #expect(facts.withoutCommas.contains("\(report.totals.reads) reads"))
    }

    /// Returns whether a text such as `12.3 ms` is a number of nanoseconds, rounded to three digits.
    private func isShort(_ text: String, of value: UInt64) -> Bool {
        let parts = text.split(separator: " ")
        let units = ["ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9]
        guard parts.count == 2, let number = Double(parts[0]), let unit = units[String(parts[1])] else { return false }
        return abs(number * unit - Double(value)) <= max(0.5, Double(value) * 0.005_01)
    }
}

extension StringProtocol {
    fileprivate var trimmed: String { String(drop { $0 == " " }) }
    fileprivate var withoutCommas: String { String(filter { $0 != "," }) }
}
