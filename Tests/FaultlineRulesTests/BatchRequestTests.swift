import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R10: batch requests")
struct BatchRequestTests {
    /// Tracks that are fetched, written and released.
    private struct Shop: MusicStory {
        var music = Music()
        lazy var saveSite = music.trace.site(70, "purge()")

        /// Fetches tracks, saves their changes in `saves` parts, and releases the result.
        mutating func write(
            rows: UInt32 = 1000, saves: UInt32 = 1, isPending: Bool = false, commit: UInt64 = 1000,
            _ part: (UInt32) -> TraceEvent.Save.Unread, change: (inout TraceEvent.Save) -> Void = { _ in },
            use: (inout TraceEvent.Use) -> Void = { _ in }
        ) {
            let shape = music.shape()
            let fetch = music.fetch(shape, rows: rows) { $0.pendingObjects = isPending ? 1 : 0 }
            for index in 0..<saves {
                var unread = part(index)
                unread.fetch = fetch
                var save = TraceEvent.Save()
                (save.deleted, save.updated) = (UInt32(unread.deleted), UInt32(unread.updated))
                save.commit = commit
                save.unread = [unread]
                save.entities = [.init(entity: music.track, updated: unread.updated, deleted: unread.deleted)]
                change(&save)
                music.trace.event(
                    .save(save), duration: commit + 4000 * (unread.deleted + unread.updated), site: saveSite)
            }
            var summary = Music.use(of: fetch, rows: rows)
            summary.touchFirst(rows)
            summary.modifiedRows = rows
            use(&summary)
            music.add(summary, shape: shape)
        }

        func analysis() -> Analysis { Analysis(Profile(music.trace.closed()), rules: [SaveSizeRule()]) }
    }

    private func findings(_ body: (inout Shop) -> Void) -> [Finding] {
        var shop = Shop()
        shop.scoped(.bulk) { body(&$0) }
        return shop.analysis().findings
    }

    private func deleted(_ rows: UInt64 = 1000) -> TraceEvent.Save.Unread { .init(fetch: 0, deleted: rows) }

    /// Objects of which some properties, by default the title, were set without reading them.
    private func set(_ rows: UInt64 = 1000, properties: UInt64 = 1, values: UInt64 = 5) -> TraceEvent.Save.Unread {
        .init(fetch: 0, updated: rows, properties: properties, values: values)
    }

    @Test func `R10 advises a batch delete for objects that are fetched only to be deleted`() throws {
        let findings = findings { $0.write { _ in deleted() } }
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.title.text == "Delete Track with a batch request")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.seenAt.map(\.site?.description) == ["List.swift:70"])
        #expect(finding.severity == .warning && finding.reservations.isEmpty)
        #expect(
            finding.explanation.map(\.text) == [
                "1,000 objects were deleted, and the program read none of them.",
                "Fetching them took 2.01 ms, and the save 4.00 ms without COMMIT.",
            ])
        #expect(
            finding.code == [
                "let result = try context.execute(BatchDeleteRequest(fetchRequest: request))",
                "context.mergeChanges(fromContextDidSave: SavedObjectIDs(deleted: Set(result.objectIDs)))",
            ])
        // A batch request takes a third of 6.01 ms, and commits as often as one save.
        let saved = 6_010_000 * 2.0 / 3
        #expect(abs(finding.saving.time.median - saved) < 1)
        #expect(finding.saving.time.low < finding.saving.time.median)
        #expect(finding.saving.rows == 1000)
    }

    @Test func `R10 advises a batch update for objects that are all set to the same values`() throws {
        let finding = try #require(findings { $0.write { _ in set(properties: 0b101) } }.first)
        #expect(finding.title.text == "Set Track.title and Track.milliseconds with a batch request")
        #expect(
            finding.explanation.map(\.text).first
                == "1,000 objects were set to the same values, and the program read none of them.")
        #expect(
            finding.code == [
                "let update = BatchUpdateRequest(fetchRequest: request, propertiesToUpdate: "
                    + "[\"title\": .value(title), \"milliseconds\": .value(milliseconds)])",
                "let result = try context.execute(update)",
                "context.mergeChanges(fromContextDidSave: SavedObjectIDs(updated: Set(result.objectIDs)))",
            ])
    }

    @Test func `A batch request also avoids saves after each object, which are not reported separately`() throws {
        let findings = findings { $0.write(saves: 1000, commit: 90_000) { _ in deleted(1) } }
        #expect(findings.map(\.title.text) == ["Delete Track with a batch request"])
        // One of 1,000 commits remains.
        let saved = 6_010_000 * 2.0 / 3 + 89_910_000
        let median = findings.first?.saving.time.median ?? 0
        #expect(abs(median - saved) < 1)
    }

    @Test func `R10 does not advise splitting a large save that a batch request can replace`() {
        let large = findings { $0.write(rows: 20_000) { _ in deleted(20_000) } }
        #expect(large.map(\.title.text) == ["Delete Track with a batch request"])
        let read = findings { shop in
            shop.write(rows: 20_000) { _ in
                deleted(20_000)
            } use: {
                $0.read(.title, rows: 1)
            }
        }
        #expect(read.map(\.title.text) == ["Save Track in parts of 5,000 objects"])
    }

    @Test func `Several saves are reported only if they set the same properties to the same values`() {
        #expect(findings { $0.write(saves: 2) { _ in set(500) } }.count == 1)
        #expect(findings { $0.write(saves: 2) { set(500, values: UInt64($0)) } }.isEmpty)
        #expect(findings { $0.write(saves: 2) { set(500, properties: UInt64($0) + 1) } }.isEmpty)
    }

    @Test func `Objects that are read, held, or not all written in the same way are not reported`() {
        #expect(findings { $0.write({ _ in deleted() }, use: { $0.read(.title, rows: 1) }) }.isEmpty)
        #expect(findings { $0.write { _ in deleted(999) } }.isEmpty)
        #expect(findings { $0.write { _ in set(999) } }.isEmpty)
        #expect(findings { $0.write { _ in .init(fetch: 0, deleted: 500, updated: 500, properties: 1) } }.isEmpty)
        // A result that the program still holds may be read later.
        #expect(findings { $0.write({ _ in deleted() }, use: { $0.state = .open }) }.isEmpty)
    }

    @Test func `Few objects, unsaved changes, conflicts, failures and scopes of kind setup are not reported`() {
        #expect(findings { $0.write(rows: 100) { _ in deleted(100) } }.count == 1)
        #expect(findings { $0.write(rows: 99) { _ in deleted(99) } }.isEmpty)
        #expect(findings { $0.write(isPending: true) { _ in deleted() } }.isEmpty)
        #expect(findings { $0.write({ _ in deleted() }, change: { $0.conflicts = 1 }) }.isEmpty)
        #expect(findings { $0.write({ _ in deleted() }, change: { $0.error = 19 }) }.isEmpty)
        #expect(findings { shop in shop.scoped(.setup) { $0.write { _ in deleted() } } }.isEmpty)
    }

    @Test func `Other rules report at most notes for a fetch that a batch request replaces`() {
        var shop = Shop()
        shop.scoped(.bulk) { shop in shop.write(rows: 5000) { _ in deleted(5000) } }
        let others = Rules.all.filter { $0.id != "R10" }
        let found = Analysis(Profile(shop.music.trace.closed()), rules: others).findings
        #expect(found.filter { $0.severity != .note }.map(\.title.text) == [])
    }

    @Test func `Batch requests are merged across profiles and kept in a file`() throws {
        var traces: [[TraceMessage]] = []
        for process in [7, 8] as [UInt32] {
            var shop = Shop(music: Music(process: process))
            shop.scoped(.bulk) { $0.write { _ in set() } }
            traces.append(shop.music.trace.closed())
        }
        var profile = Profile(traces[0])
        try profile.merge(try Profile(fileData: Profile(traces[1]).fileData()))
        let findings = Analysis(profile, rules: [SaveSizeRule()]).findings
        #expect(findings.map(\.title.text) == ["Set Track.title with a batch request"])
        #expect(
            findings.first?.explanation.map(\.text).first
                == "1,000 objects were set to the same value, and the program read none of them.")
        #expect(findings.first?.occurrence == Occurrence(recordings: 2, of: 2))
    }
}
