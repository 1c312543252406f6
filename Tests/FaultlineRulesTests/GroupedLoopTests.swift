import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R04: counts, aggregates and first rows")
struct GroupedLoopTests {
    private static let byAlbum = ShapeEntry.Term(keyPath: "album", operation: "==", operand: "object")
    private static let long = ShapeEntry.Term(keyPath: "milliseconds", operation: ">")

    private func findings(_ music: Music, rules: [any Rule] = [FetchLoopRule()]) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: rules).findings
    }

    private func shape(
        _ music: inout Music, _ terms: [ShapeEntry.Term] = [byAlbum], resultType: String, sort: [String] = [],
        isLimited: Bool = false, expressions: [String]? = nil, groups: [String]? = nil
    ) -> DictionaryID {
        music.trace.define(
            .shape(
                ShapeEntry(
                    entity: "Track", predicate: "album == ?", sort: sort, isLimited: isLimited, resultType: resultType,
                    expressions: expressions, groups: groups, terms: terms)))
    }

    /// Findings for requests for one album after another, each with a statement that scans `scans` rows.
    private func loop(
        _ type: TraceEvent.Fetch.ResultType, _ terms: [ShapeEntry.Term] = [byAlbum], albums: UInt64 = 20,
        sort: [String] = [], limit: UInt32 = 0, expressions: [String]? = nil, groups: [String]? = nil, rows: UInt32 = 4,
        scans: UInt32 = 0
    ) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        let shape = shape(
            &music, terms, resultType: "\(type)", sort: sort, isLimited: limit > 0, expressions: expressions,
            groups: groups)
        music.scoped(.screen) { music in
            for album in 1...albums {
                let fetch = music.fetch(shape, rows: rows, duration: 40_000) {
                    ($0.resultType, $0.limit) = (type, limit)
                    ($0.operands, $0.parameters) = ([album] + terms.dropFirst().map { _ in 5 }, album)
                }
                music.statement(of: fetch, fullScanSteps: scans, virtualMachineSteps: 40, rows: 1)
            }
        }
        return findings(music)
    }

    @Test func `R04 advises one grouped fetch instead of counts for one album after another`() throws {
        let found = loop(.count, [Self.byAlbum, Self.long])
        #expect(found.map(\.rule) == ["R04"])
        let finding = try #require(found.first)
        #expect(finding.title.text == "Count Track for all values of album at once, in one grouped fetch")
        #expect(
            finding.code == [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Track>()",
                #"request.predicate = FetchPredicate.isIn("album", objects: ids)"#,
                #"    && PropertyPath("milliseconds") > milliseconds"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["album", count])"#,
                #"request.propertiesToGroupBy = ["album"]"#, "let groups = try context.fetchDictionaries(request)",
            ])
        #expect(finding.change?.description == "List.swift:42")
        #expect(
            finding.explanation.map(\.text).first
                == "20 count requests followed one another, for 20 values of album: 80 rows, 800 µs in all.")
        // 20 requests of 40 µs, minus a trip of 10 µs, 20 × 40 steps of 15 ns, and 3 µs for each album.
        #expect(abs(finding.saving.time.median - (800_000 - 10_000 - 12_000 - 60_000)) < 1)
        #expect(finding.saving.time.low > 500_000 && finding.saving.time.high <= 800_000)
        #expect(finding.saving.trips == 19 && finding.severity == .warning)
        #expect(finding.fix.text.contains("Keep the predicate's other terms: milliseconds > ?."))
    }

    @Test func `R04 advises one grouped fetch instead of aggregates for one album after another`() throws {
        let finding = try #require(loop(.dictionaries, expressions: ["sum:(milliseconds)"], rows: 1).first)
        #expect(finding.title.text == "Aggregate Track for all values of album at once, in one grouped fetch")
        #expect(
            finding.code == [
                #"request.predicate = .isIn("album", objects: ids)"#,
                #"request.propertiesToFetch.append("album")"#, #"request.propertiesToGroupBy = ["album"]"#,
                "let groups = try context.fetchDictionaries(request)",
            ])
        let grouped = loop(.dictionaries, expressions: ["title", "sum:(milliseconds)"], groups: ["title"], rows: 1)
        #expect(grouped.isEmpty)
        // Dictionaries without an aggregate are rows like any other.
        #expect(
            loop(.dictionaries, expressions: ["title"], rows: 1).map(\.title.text) == [
                "Fetch Track for all values of album at once, with IN"
            ])
    }

    @Test func `Replacing a table scan per album saves more than replacing an index search per album`() throws {
        let seek = try #require(loop(.count).first).saving.time.median
        let scan = try #require(loop(.count, scans: 39).first).saving.time.median
        #expect(scan > seek)
    }

    @Test func `R04 advises one grouped fetch for results in a loop that are only counted`() throws {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen) { music in
            for album in 1...20 as ClosedRange<UInt64> {
                let fetch = music.fetch(shape, rows: 30) { ($0.operands, $0.parameters) = ([album], album) }
                var use = Music.use(of: fetch, rows: 30)
                use.countAsked = 1
                music.add(use, shape: shape)
            }
        }
        let found = findings(music, rules: [FetchLoopRule(), AggregateRule()])
        #expect(found.map(\.title.text) == ["Count Track for all values of album at once, in one grouped fetch"])
        #expect(found.first?.code.first == #"let count = ExpressionDescription("count", .function(.count, "self"))"#)
    }

    @Test func `Four counts, and counts without an equality, are not reported`() {
        #expect(loop(.count, albums: 4).isEmpty)
        #expect(loop(.count, [.init(keyPath: "milliseconds", operation: "<")]).isEmpty)
    }

    // MARK: - The first row

    @Test func `R04 advises keeping the last track of each album in a relationship`() throws {
        let found = loop(.objects, sort: ["milliseconds descending"], limit: 1, rows: 1)
        #expect(found.map(\.title.text) == ["Keep the last Track of each Album in a relationship, and prefetch it"])
        let finding = try #require(found.first)
        #expect(
            finding.code == [
                "// In the model: Album.lastTrack: to-one Track",
                #"request.relationshipKeyPathsForPrefetching = ["lastTrack"]"#,
            ])
        #expect(finding.severity == .warning && finding.saving.time.low > 0 && finding.saving.time.high <= 800_000)
        #expect(
            finding.explanation.map(\.text).first
                == "20 fetches of one row followed one another, each for the last row of another album: 20 rows, 800 µs in all."
        )
    }

    @Test func `If only the sort key is read, a grouped fetch of its maximum is advised`() throws {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape("album == ?", [Self.byAlbum], sort: ["milliseconds descending"], isLimited: true)
        music.scoped(.screen) { music in
            for album in 1...20 as ClosedRange<UInt64> {
                let fetch = music.fetch(shape, rows: 1, duration: 40_000) {
                    ($0.operands, $0.parameters, $0.limit) = ([album], album, 1)
                }
                var use = Music.use(of: fetch, rows: 1)
                use.touchFirst(1, in: .screen)
                use.read(.milliseconds, rows: 1)
                music.add(use, shape: shape)
            }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.title.text == "Fetch the largest milliseconds of Track for each Album at once, grouped")
        #expect(
            finding.code.first
                == #"let largest = ExpressionDescription("largest", .function(.maximum, "milliseconds"))"#)
    }

    @Test func `A page of two rows is not reported as a loop`() {
        #expect(loop(.objects, sort: ["milliseconds descending"], limit: 2, rows: 2).isEmpty)
    }
}

@Suite("R04: look-ups and unsaved objects")
struct LookUpTests {
    private func lookUps(
        _ count: UInt64, duration: UInt64 = 40_000, _ change: (inout TraceEvent.Fault) -> Void = { _ in }
    ) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        music.scoped(.screen) { music in
            for object in 1...count {
                var fault = TraceEvent.Fault()
                (fault.type, fault.source, fault.entity, fault.object) = (.object, .store, music.track, object)
                (fault.filled, fault.bytes) = (1, 100)
                change(&fault)
                music.trace.event(.fault(fault), duration: duration, stack: music.readStack)
            }
        }
        return Analysis(Profile(music.trace.closed()), rules: [FetchLoopRule()]).findings
    }

    @Test func `R04 advises fetching objects that are looked up one by one at once, by their IDs`() throws {
        let found = lookUps(50)
        #expect(found.map(\.title.text) == ["Fetch the objects of Track at once by their IDs, with IN"])
        let finding = try #require(found.first)
        #expect(finding.severity == .warning && finding.saving.trips == 49)
        #expect(
            finding.code == [
                #"var request = FetchRequest<Track>(predicate: .isIn("self", objects: ids))"#,
                "request.returnsObjectsAsFaults = false", "let found = try context.fetch(request)",
            ])
        #expect(finding.change?.line == 57)
        #expect(finding.saving.time.low > 0 && finding.saving.time.high <= 2_000_000)
    }

    @Test func `Members of an object that was looked up are prefetched with it`() throws {
        var music = Music()
        music.calibrate(music.shape())
        music.scoped(.screen) { music in
            let name = music.trace.define(.name(NameEntry(name: "tracks")))
            var members = TraceEvent.Fault()
            (members.type, members.source, members.entity, members.object) = (.toMany, .store, music.album, 900)
            (members.relationship, members.relationshipEntity, members.filled) = (name, music.album, 50)
            music.trace.event(.fault(members), duration: 40_000, stack: music.readStack)
            for object in 1...50 as ClosedRange<UInt64> {
                var fault = TraceEvent.Fault()
                (fault.type, fault.source, fault.entity, fault.object) = (.object, .store, music.track, object)
                (fault.filled, fault.bytes) = (1, 100)
                music.trace.event(.fault(fault), duration: 40_000, stack: music.readStack)
            }
        }
        let profile = Profile(music.trace.closed())
        let finding = try #require(Analysis(profile, rules: [FetchLoopRule()]).findings.first)
        #expect(finding.title.text == "Fetch the Album by its ID, and prefetch tracks")
        #expect(
            finding.explanation.first?.text.hasSuffix(
                "the program looked up an object of Album by its ID and went on to tracks.")
                == true)
        #expect(finding.code.contains(#"    relationshipKeyPathsForPrefetching: ["tracks"])"#))
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [FetchLoopRule()]).findings.first == finding)
    }

    @Test func `Look-ups whose trips are as quick as a row are a note without a saving`() throws {
        let finding = try #require(lookUps(50, duration: 2500).first)
        #expect(finding.severity == .note && finding.saving.time.median == 0)
        #expect(
            finding.reservations.map(\.text).contains(
                "The trips are so quick here that one fetch would save nothing measurable."))
    }

    @Test func `Few, known or repeated objects, row cache hits and to-many faults are not reported`() {
        #expect(lookUps(4).isEmpty)
        #expect(lookUps(50) { $0.seenBefore = true }.isEmpty)
        #expect(lookUps(50) { $0.object = 7 }.isEmpty)
        #expect(lookUps(50) { $0.source = .rowCache }.isEmpty)
        #expect(lookUps(50) { $0.type = .toMany }.isEmpty)
    }

    /// Findings for fetches that each compare `objects` unsaved objects.
    private func unsaved(_ objects: UInt32, time: UInt64, operation: String, operands: Bool = true) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape("title \(operation) ?", [.init(keyPath: "title", operation: operation)])
        music.scoped(.request) { music in
            for value in 1...20 as ClosedRange<UInt64> {
                _ = music.fetch(shape, rows: 0, duration: 20_000 + time) {
                    ($0.operands, $0.parameters) = ([operands ? value : 1], operands ? value : 1)
                    ($0.pendingObjects, $0.pending) = (objects, time)
                }
            }
        }
        return Analysis(Profile(music.trace.closed()), rules: [FetchLoopRule()]).findings
    }

    @Test func `The finding about a loop states the time spent on unsaved objects`() throws {
        let finding = try #require(unsaved(500, time: 1_000_000, operation: "==").first)
        #expect(finding.title.text == "Fetch Track for all values of title at once, with IN")
        #expect(
            finding.explanation.map(\.text).last
                == "Of that time, 20.0 ms went into comparing unsaved objects in memory, about 500 for each fetch.")
        #expect(finding.saving.time.median > 20_000_000 && finding.saving.time.low > 15_000_000)
        #expect(finding.alternatives.map(\.text).last?.contains("request.includesPendingChanges = false") == true)
        let none = try #require(unsaved(0, time: 0, operation: "==").first)
        #expect(none.alternatives.isEmpty && none.explanation.count == 1)
    }

    @Test func `R04 advises excluding unsaved objects from fetches that IN cannot replace`() throws {
        let found = unsaved(500, time: 1_000_000, operation: "CONTAINS")
        #expect(found.map(\.title.text) == ["Leave unsaved objects out of the fetches of Track"])
        let finding = try #require(found.first)
        #expect(finding.code == ["request.includesPendingChanges = false"])
        #expect(finding.saving.time.median == 20_000_000 && finding.severity == .warning)
    }

    @Test func `Few unsaved objects, and unsaved objects that cost little, are not reported`() {
        #expect(unsaved(99, time: 1_000_000, operation: "CONTAINS").isEmpty)
        #expect(unsaved(500, time: 10_000, operation: "CONTAINS").isEmpty)
    }
}
