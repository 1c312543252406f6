import FaultlineReport
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@Suite("Single events")
struct EventLinesTests {
    private var dictionary: TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in GroceriesStory.trace { dictionary.insert(entry, id: id) }
        return dictionary
    }

    private func first(_ kind: EventKind) throws -> TraceEvent {
        for case .event(let event) in GroceriesStory.trace where event.kind == kind { return event }
        throw NotFound()
    }

    private struct NotFound: Error {}

    @Test func `Text has one line an event, in columns`() throws {
        var text = EventText(dictionary: dictionary)
        #expect(
            EventText.heading
                == "    start (s)  duration  thread    kind       what                                              rows            call site"
        )
        let expected: [(EventKind, String)] = [
            (
                .fetch,
                "  0.000001000   60.0 µs  main      fetch      Item by name                                       100  by 50     List.swift:42"
            ),
            (
                .batch,
                "  0.000061000    110 µs  main      batch      Item from 0                                         50            Scroll.swift:60"
            ),
            (
                .fault,
                "  0.002491000   12.0 µs  main      fault      Item.list                                            1  store     Scroll.swift:57"
            ),
            (
                .save,
                "  0.003706000    400 µs  main      save       Item                                                 3            List.swift:90"
            ),
            (
                .sql,
                "  0.003706000    300 µs  main      sql        SELECT * FROM ZITEM                                  3  write     List.swift:90"
            ),
            (
                .use,
                "  0.002281000            main      use        Item: 100 of 100 touched                           100  closed    –"
            ),
            (
                .scope,
                "  0.000061000            7         scope      scroll (screen)                                         begin     –"
            ),
        ]
        for (kind, line) in expected { #expect(text.lines(try first(kind)) == [line]) }
    }

    @Test func `A merge, a refresh and a wait say what they were about, and a wait who held it`() throws {
        var merge = TraceEvent.Merge()
        (merge.trigger, merge.saver, merge.refreshed) = (.automatic, 2, 3)
        merge.entities = [.init(entity: 1, updated: 3)]
        var refresh = TraceEvent.Refresh()
        (refresh.entity, refresh.objects, refresh.keepsChanges) = (1, 1, true)
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.holder, wait.holderSite) = (.coordinator, true, 2, 3)
        var other = TraceEvent.Wait()
        (other.resource, other.isBlocking, other.holderProcess, other.error) = (.sqlite, true, 4711, 5)
        var dictionary = TraceDictionary()
        dictionary.insert(.entity(EntityEntry(name: "Item")), id: 1)
        dictionary.insert(.context(ContextEntry(name: "import", concurrency: "privateQueue")), id: 2)
        dictionary.insert(.site(SiteEntry(file: "App/Import.swift", line: 30)), id: 3)
        var text = EventText(dictionary: dictionary)
        let lines = [TraceEvent.Detail.merge(merge), .refresh(refresh), .wait(wait), .wait(other)].map {
            text.lines(TraceEvent(duration: 1000, thread: 7, $0))[0].split(separator: #/ {2,}/#).dropFirst(3)
                .joined(separator: "; ")
        }
        #expect(
            lines == [
                "merge; Item of import; 3; auto; –", "refresh; Item; 1; merged; –",
                "wait; coordinator of import at Import.swift:30; –", "wait; sqlite of process 4711; failed; –",
            ])
    }

    @Test func `Frames stand below their event`() throws {
        var text = EventText(dictionary: dictionary)
        #expect(text.lines(try first(.fault), stack: true).dropFirst() == ["        scroll()  Scroll.swift:57"])
    }

    /// Of a batch the text named the line that touched a row, and JSON that of the fetch.
    @Test func `Text and JSON name the same call site`() throws {
        var music = Music()
        let stack = music.readStack
        music.trace.event(.batch(TraceEvent.Batch()), duration: 10, site: music.fetchSite, stack: stack)
        music.trace.event(.fetch(TraceEvent.Fetch()), duration: 10, site: music.fetchSite, stack: stack)
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in music.trace.trace { dictionary.insert(entry, id: id) }
        var (text, json) = (EventText(dictionary: dictionary), EventJSON(dictionary: dictionary))
        var sites: [String] = []
        for case .event(let event) in music.trace.trace {
            let site = event.kind == .batch ? "Scroll.swift:57" : "List.swift:42"
            #expect(text.lines(event)[0].hasSuffix(site))
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(json.line(event).utf8)) as? [String: Any])
            sites.append((object["callSite"] as? [String: Any])?["text"] as? String ?? "")
        }
        #expect(sites == ["Scroll.swift:57", "List.swift:42"])
    }

    @Test func `JSON has every field, with names beside numbers`() throws {
        var json = EventJSON(dictionary: dictionary)
        #expect(
            json.line(try first(.fault))
                == #"{"process":7,"kind":"fault","id":17,"parent":0,"scope":15,"start":2491000,"duration":12000,"#
                + #""runDelay":0,"context":0,"site":0,"stack":7,"overhead":0,"thread":7,"isMainThread":true,"#
                + #""object":"0000000000000001","origin":16,"bytes":0,"type":"toOne","source":"store","entity":2,"#
                + #""entityName":"List","relationship":3,"relationshipName":"list","relationshipEntity":1,"#
                + #""relationshipEntityName":"Item","filled":1,"seenBefore":false,"error":0,"isWatched":false,"#
                + #""isDeleting":false,"callSite":{"file":"/src/Groceries/Scroll.swift","function":"scroll()","line":57,"#
                + #""text":"Scroll.swift:57"},"stackSite":{"file":"/src/Groceries/Scroll.swift","function":"scroll()","#
                + #""line":57,"text":"Scroll.swift:57"}}"#)
    }

    @Test(arguments: EventKind.allCases)
    func `Every field of a kind is a key of its JSON`(_ kind: EventKind) throws {
        // Every field set to a number of its own, so that none is taken for another.
        let event = TraceEvent(id: 900, Self.filled[kind]!.0)
        var json = EventJSON(dictionary: TraceDictionary())
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.line(event).utf8)) as? [String: Any])
        for (key, value) in Self.filled[kind]!.1 { #expect("\(object[key] ?? "none")" == value, "\(kind) \(key)") }
    }

    private static let filled: [EventKind: (TraceEvent.Detail, [String: String])] = {
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.parameters, fetch.limit, fetch.offset) = (1, 2, 3, 4, 5)
        (fetch.batchSize, fetch.resultType, fetch.rows, fetch.trips, fetch.bytes) = (6, .count, 7, 8, 9)
        (fetch.wait, fetch.prepare, fetch.step, fetch.materialise) = (10, 11, 12, 13)
        (fetch.cacheHits, fetch.cacheMisses, fetch.error, fetch.operands) = (14, 15, 16, [17])
        (fetch.values, fetch.pending, fetch.pendingObjects) = (18, 19, 20)
        fetch.prefetches = [TraceEvent.Prefetch(path: 0, trips: 1, rows: 2, bytes: 3, duration: 4)]
        var batch = TraceEvent.Batch()
        (batch.fetch, batch.entity, batch.shape, batch.firstIndex, batch.rows) = (1, 2, 3, 4, 5)
        (batch.trips, batch.bytes, batch.cacheHits, batch.error) = (6, 7, 8, 9)
        batch.prefetches = fetch.prefetches
        var fault = TraceEvent.Fault()
        (fault.type, fault.source, fault.entity, fault.relationship) = (.toMany, .gone, 1, 2)
        (fault.relationshipEntity, fault.object, fault.origin, fault.filled) = (3, 255, 5, 6)
        (fault.bytes, fault.seenBefore, fault.error, fault.isWatched) = (7, true, 8, true)
        fault.isDeleting = true
        var save = TraceEvent.Save()
        (save.inserted, save.updated, save.deleted, save.changedColumns, save.conflicts) = (1, 2, 3, 4, 5)
        (save.trips, save.bytes, save.lockWait, save.commit, save.error) = (6, 7, 8, 9, 10)
        save.unchanged = 11
        var sql = TraceEvent.Statement()
        (sql.statement, sql.plan, sql.type, sql.rows, sql.fullScanSteps) = (1, 2, .schema, 3, 4)
        (sql.sorts, sql.automaticIndexes, sql.virtualMachineSteps) = (5, 6, 7)
        (sql.preparations, sql.pageHits, sql.pageMisses, sql.error) = (8, 9, 10, 11)
        (sql.textComparisons, sql.textMatches) = (12, 13)
        var use = TraceEvent.Use()
        (use.fetch, use.entity, use.shape, use.state, use.batchSize, use.rows) = (1, 2, 3, .open, 4, 5)
        (use.loadedRows, use.bytes, use.touchedRows, use.touches, use.batchesLoaded) = (6, 7, 8, 9, 10)
        (use.countAsked, use.firstUse, use.lastUse, use.runsLost) = (11, 12, 13, 14)
        (use.emptinessAsked, use.modifiedRows, use.identitiesAsked) = (15, 16, 17)
        var merge = TraceEvent.Merge()
        (merge.trigger, merge.saver, merge.inserted, merge.updated) = (.automatic, 1, 2, 3)
        (merge.deleted, merge.refreshed, merge.conflicts) = (4, 5, 6)
        var refresh = TraceEvent.Refresh()
        (refresh.entity, refresh.objects, refresh.changed, refresh.keepsChanges) = (1, 2, 3, true)
        var release = TraceEvent.Release()
        (release.fault, release.object, release.bytes, release.entity, release.fetch) = (1, 2, 3, 4, 5)
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.holder, wait.holderSite) = (.connection, true, 1, 2)
        (wait.holderThread, wait.holderProcess, wait.tries, wait.error) = (3, 4, 5, 6)
        return [
            .merge: (
                .merge(merge),
                [
                    "trigger": "automatic", "saver": "1", "inserted": "2", "updated": "3", "deleted": "4",
                    "refreshed": "5", "conflicts": "6",
                ]
            ),
            .release: (
                .release(release),
                ["fault": "1", "object": "0000000000000002", "bytes": "3", "entity": "4", "fetch": "5"]
            ),
            .refresh: (.refresh(refresh), ["entity": "1", "objects": "2", "changed": "3", "keepsChanges": "1"]),
            .wait: (
                .wait(wait),
                [
                    "resource": "connection", "isBlocking": "1", "holder": "1", "holderSite": "2", "holderThread": "3",
                    "holderProcess": "4", "tries": "5", "error": "6",
                ]
            ),
            .fetch: (
                .fetch(fetch),
                [
                    "entity": "1", "shape": "2", "parameters": "0000000000000003", "limit": "4", "offset": "5",
                    "batchSize": "6",
                    "resultType": "count", "rows": "7", "trips": "8", "bytes": "9", "wait": "10", "prepare": "11",
                    "step": "12",
                    "materialise": "13", "cacheHits": "14", "cacheMisses": "15", "error": "16", "operands": "[17]",
                    "values": "18", "pending": "19", "pendingObjects": "20",
                ]
            ),
            .batch: (
                .batch(batch),
                [
                    "fetch": "1", "entity": "2", "shape": "3", "firstIndex": "4", "rows": "5", "trips": "6",
                    "bytes": "7",
                    "cacheHits": "8", "error": "9",
                ]
            ),
            .fault: (
                .fault(fault),
                [
                    "type": "toMany", "source": "gone", "entity": "1", "relationship": "2", "relationshipEntity": "3",
                    "object": "00000000000000ff", "origin": "5", "filled": "6", "bytes": "7", "error": "8",
                    "isWatched": "1", "isDeleting": "1",
                ]
            ),
            .cacheMiss: (
                .cacheMiss(
                    {
                        var miss = TraceEvent.CacheMiss(); (miss.fault, miss.entity) = (1, 2); return miss
                    }()),
                [
                    "fault": "1", "entity": "2",
                ]
            ),
            .save: (
                .save(save),
                [
                    "inserted": "1", "updated": "2", "deleted": "3", "changedColumns": "4", "conflicts": "5",
                    "trips": "6",
                    "bytes": "7", "lockWait": "8", "commit": "9", "error": "10",
                    "unchanged": "11",
                ]
            ),
            .sql: (
                .sql(sql),
                [
                    "statement": "1", "plan": "2", "type": "schema", "rows": "3", "fullScanSteps": "4", "sorts": "5",
                    "automaticIndexes": "6", "virtualMachineSteps": "7", "preparations": "8", "pageHits": "9",
                    "pageMisses": "10", "error": "11", "textComparisons": "12", "textMatches": "13",
                ]
            ),
            .use: (
                .use(use),
                [
                    "fetch": "1", "entity": "2", "shape": "3", "state": "open", "batchSize": "4", "rows": "5",
                    "loadedRows": "6",
                    "bytes": "7", "touchedRows": "8", "touches": "9", "batchesLoaded": "10", "countAsked": "11",
                    "firstUse": "12", "lastUse": "13", "runsLost": "14", "emptinessAsked": "15", "modifiedRows": "16",
                    "identitiesAsked": "17",
                ]
            ),
            .scope: (
                .scope(
                    {
                        var scope = TraceEvent.Scope()
                        (scope.name, scope.kind, scope.phase) = (1, .bulk, .end)
                        return scope
                    }()), ["name": "1", "scopeKind": "bulk", "phase": "end"]
            ),
        ]
    }()
}
