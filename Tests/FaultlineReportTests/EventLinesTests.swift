import FaultlineDocuments
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

    @Test func `Text has one line per event, in columns`() throws {
        var text = EventText(dictionary: dictionary)
        #expect(
            EventText.heading
                == "    start (s)  duration  thread    kind        what                                              rows            call site"
        )
        let expected: [(EventKind, String)] = [
            (
                .fetch,
                "  0.000001000   60.0 µs  main      fetch       Item by name                                       100  by 50     List.swift:42"
            ),
            (
                .batch,
                "  0.000061000    110 µs  main      batch       Item from 0                                         50            Scroll.swift:60"
            ),
            (
                .fault,
                "  0.002491000   12.0 µs  main      fault       Item.list                                            1  store     Scroll.swift:57"
            ),
            (
                .save,
                "  0.003706000    400 µs  main      save        Item                                                 3            List.swift:90"
            ),
            (
                .sql,
                "  0.003706000    300 µs  main      sql         SELECT * FROM ZITEM                                  3  write     List.swift:90"
            ),
            (
                .use,
                "  0.002281000            main      use         Item: 100 of 100 touched                           100  closed    –"
            ),
            (
                .scope,
                "  0.000061000            7         scope       scroll (screen)                                         begin     –"
            ),
        ]
        for (kind, line) in expected { #expect(text.lines(try first(kind)) == [line]) }
    }

    @Test func `Merges, refreshes and waits show their subject, and waits show the owner`() throws {
        var merge = TraceEvent.Merge()
        (merge.trigger, merge.saver, merge.refreshed) = (.automatic, 2, 3)
        merge.entities = [.init(entity: 1, updated: 3)]
        var refresh = TraceEvent.Refresh()
        (refresh.entity, refresh.objects, refresh.keepsChanges) = (1, 1, true)
        var wait = TraceEvent.Wait()
        (wait.resource, wait.isBlocking, wait.owner, wait.ownerSite) = (.coordinator, true, 2, 3)
        var other = TraceEvent.Wait()
        (other.resource, other.isBlocking, other.ownerProcess, other.error) = (.sqlite, true, 4711, 5)
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

    @Test func `Frames are printed below their event`() throws {
        var text = EventText(dictionary: dictionary)
        #expect(text.lines(try first(.fault), stack: true).dropFirst() == ["        scroll()  Scroll.swift:57"])
    }

    /// For a batch, the text once named the line that touched a row, and JSON the line of the fetch.
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

    @Test func `JSON has every field, with names in addition to IDs`() throws {
        var json = EventJSON(dictionary: dictionary)
        #expect(
            json.line(try first(.fault))
                == #"{"process":7,"kind":"fault","id":17,"parent":0,"scope":15,"start":2491000,"duration":12000,"#
                + #""runDelay":0,"context":0,"site":0,"stack":7,"overhead":0,"thread":7,"isMainThread":true,"#
                + #""object":"0000000000000001","origin":16,"bytes":0,"wait":0,"prepare":0,"step":0,"sinceCached":0,"#
                + #""loadedSince":0,"type":"toOne","source":"store","entity":2,"entityName":"List","relationship":3,"relationshipName":"list","#
                + #""relationshipEntity":1,"#
                + #""relationshipEntityName":"Item","filled":1,"seenBefore":false,"error":0,"isWatched":false,"#
                + #""isDeleting":false,"isThrowing":false,"callSite":{"file":"/src/Groceries/Scroll.swift","function":"scroll()","line":57,"#
                + #""text":"Scroll.swift:57"},"stackSite":{"file":"/src/Groceries/Scroll.swift","function":"scroll()","#
                + #""line":57,"text":"Scroll.swift:57"}}"#)
    }

    @Test(arguments: EventKind.allCases)
    func `Every field of an event is a key in its JSON`(_ kind: EventKind) throws {
        // Every field has a different number, so none can be mistaken for another.
        let (event, _) = TraceEvent.filled(kind)
        var json = EventJSON(dictionary: TraceDictionary())
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(json.line(event).utf8)) as? [String: Any])
        let (schema, values) = (EventSchema.of(kind), event.detail.values)
        for (field, value) in values.fields {
            let expected =
                switch field.meaning {
                case .enumeration(let words): EventSchema.word(value, of: words) ?? "no word"
                case .hash: String(repeating: "0", count: 13) + String(value, radix: 16)
                default: String(value)
                }
            #expect("\(object[schema.key(of: field)] ?? "none")" == expected, "\(kind) \(field.name)")
        }
        for list in schema.lists {
            let entries = try #require(object[list.name] as? [Any])
            #expect(entries.count == 1)
            guard list.words.count > 1, let entry = entries[0] as? [String: Any] else { continue }
            #expect(Set(list.words.map(\.name)).isSubset(of: entry.keys))
        }
    }
}
