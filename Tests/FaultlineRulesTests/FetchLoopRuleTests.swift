import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R04: fetch in a loop")
struct FetchLoopRuleTests {
    private static let byAlbum = ShapeEntry.Term(keyPath: "album", operation: "==", operand: "object")
    private static let byTitle = ShapeEntry.Term(keyPath: "title", operation: "==")
    private static let long = ShapeEntry.Term(keyPath: "milliseconds", operation: ">")

    private func findings(_ music: Music, rules: [any Rule] = [FetchLoopRule()]) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: rules).findings
    }

    /// Findings for consecutive fetches with these operands; the first may take longer.
    private func loop(
        _ terms: [ShapeEntry.Term]? = [byAlbum], isLimited: Bool = false, operands: [[UInt64]] = (1...10).map { [$0] },
        rows: UInt32 = 12,
        sort: [String] = [], scope: TraceEvent.Scope.Kind? = .screen, pause: UInt64 = 0, first: UInt64? = nil,
        _ change: (inout TraceEvent.Fetch) -> Void = { _ in }
    ) -> [Finding] {
        var music = Music()
        let shape = music.shape("album == ?", terms, sort: sort, isLimited: isLimited)
        music.calibrate(shape)
        func run(_ music: inout Music) {
            for (number, operands) in operands.enumerated() {
                _ = music.fetch(shape, rows: rows, duration: number == 0 ? first : nil) {
                    $0.operands = operands
                    $0.parameters = operands.reduce(7) { $0 &* 31 &+ $1 }
                    change(&$0)
                }
                music.trace.now += pause
            }
        }
        if let scope { music.scoped(scope) { run(&$0) } } else { run(&music) }
        return findings(music)
    }

    @Test func `R04 advises one fetch with IN instead of fetches for one album after another`() throws {
        let found = loop()
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.rule == "R04")
        #expect(finding.title.text == "Fetch Track for all values of album at once, with IN")
        #expect(finding.change?.description == "List.swift:42")
        #expect(
            finding.code == [
                #"request.predicate = .isIn("album", objects: ids)"#, "let found = try context.fetch(request)",
                "let groups = Dictionary(grouping: found) { $0.album }",
            ])
        #expect(
            finding.explanation.map(\.text) == [
                "10 fetches followed one another for 10 values of album: 120 rows, 340 µs in all."
            ])
        #expect(finding.seenAt.map(\.site) == [finding.change])
        #expect(finding.seenAt.map(\.count) == [10] && finding.seenAt.map(\.time) == [340_000])
        // Nine of ten trips of 10 µs, minus 1 µs for each value in the list and 300 ns to group each row.
        #expect(abs(finding.saving.time.median - (90_000 - 10_000 - 36_000)) < 1)
        #expect(finding.saving.time.low < finding.saving.time.median)
        #expect(finding.saving.time.high > finding.saving.time.median)
        #expect(finding.saving.trips == 9)
        #expect(finding.saving.rows == 0)
        #expect(finding.severity == .warning)
        #expect(finding.scopes == ["album"])
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "executions": 10, "values": 10, "occurrences": 1, "rows": 120, "fetchTime": 340_000, "waiting": 0,
                "wallTime": 340_000,
            ])
    }

    @Test func `Members of a to-many relationship are compared with all objects, and the first of each is prefetched`()
        throws
    {
        let any = ShapeEntry.Term(keyPath: "playlists", operation: "ANY ==", operand: "object")
        let all = try #require(loop([any]).first)
        #expect(
            all.code == [
                #"request.predicate = try FetchPredicate(format: "ANY playlists IN %@", objects)"#,
                "let found = try context.fetch(request)",
            ])
        // The trace has no relationship from the other entity.
        #expect(loop([any], isLimited: true, rows: 1, sort: ["title"]) { $0.limit = 1 }.isEmpty)
        var music = Music()
        _ = music.trace.define(
            .entity(
                EntityEntry(
                    name: "Clip",
                    properties: [.init(name: "playlists", type: "toMany", destination: "Playlist")])))
        _ = music.trace.define(
            .entity(
                EntityEntry(
                    name: "Playlist", properties: [.init(name: "clips", type: "toMany", destination: "Clip")])))
        let shape = music.trace.define(
            .shape(
                ShapeEntry(
                    entity: "Clip", predicate: "ANY playlists == ?", sort: ["title"], isLimited: true, terms: [any])))
        music.scoped(.screen) { music in
            for number in 1...20 as ClosedRange<UInt64> {
                _ = music.fetch(shape, rows: 1) { ($0.operands, $0.parameters, $0.limit) = ([number], number, 1) }
            }
        }
        let first = try #require(findings(music).first)
        #expect(first.title.text == "Prefetch \"clips\" with the fetch of Playlist, and take the first of each")
    }

    @Test func `The advised code differs for values, object IDs and key paths`() throws {
        let values = try #require(loop([Self.byTitle]).first)
        #expect(values.code.first == #"request.predicate = .isIn("title", values)"#)
        let own = try #require(loop([.init(keyPath: "self", operation: "==", operand: "object")]).first)
        #expect(own.title.text == "Fetch Track for all object IDs at once, with IN")
        #expect(
            own.code == [
                #"request.predicate = .isIn("self", objects: ids)"#, "let found = try context.fetch(request)",
            ])
        let far = try #require(loop([.init(keyPath: "album.title", operation: "==")]).first)
        #expect(far.code.last == "let groups = Dictionary(grouping: found) { $0.album?.title }")
    }

    @Test func `Rows of repeated values count as saved`() throws {
        let finding = try #require(loop(operands: (1...20).map { [$0 % 10] }).first)
        // Twenty trips become one, half of 240 rows of 2 µs need not be read, and the others are grouped.
        #expect(finding.saving.trips == 19)
        #expect(finding.saving.rows == 120)
        #expect(abs(finding.saving.time.median - (190_000 + 240_000 - 10_000 - 36_000)) < 1)
    }

    @Test func `The extra time of the first fetch does not count as a saving`() throws {
        let finding = try #require(loop(first: 1_000_000).first)
        #expect(finding.seenAt.first?.time == 1_000_000 + 9 * 34_000)
        #expect(abs(finding.saving.time.median - (90_000 - 10_000 - 36_000)) < 1)
    }

    @Test func `Fetches limited to one row have low confidence, because IN loads all rows of a value`() throws {
        let finding = try #require(loop(isLimited: true, rows: 1) { $0.limit = 1 }.first)
        #expect(finding.saving.time.low == 0 && finding.saving.time.median > 0 && finding.confidence.level == .low)
        #expect(finding.explanation.map(\.text).contains("Each is limited to one row; IN loads all rows of a value."))
        #expect(try #require(loop(rows: 1).first).saving.time.low > 0)
    }

    @Test func `Grouping by another object's attribute costs a trip for each value`() throws {
        let near = try #require(loop(rows: 1).first).saving.time.median
        let far = try #require(loop([.init(keyPath: "album.title", operation: "==")], rows: 1).first).saving.time.median
        // A trip of 10 µs for each of ten albums.
        #expect(near > 0 && near < 100_000 && far == 0)
    }

    @Test func `Objects fetched by their IDs need no grouping`() throws {
        let own = ShapeEntry.Term(keyPath: "self", operation: "==", operand: "object")
        let finding = try #require(loop([own], rows: 1).first)
        #expect(abs(finding.saving.time.median - (90_000 - 10_000)) < 1)
    }

    @Test func `Fetches for five values are reported, and fetches for four values are not`() {
        #expect(loop(operands: (1...5).map { [$0] }).count == 1)
        #expect(loop(operands: (1...4).map { [$0] }).isEmpty)
        #expect(loop(operands: (1...20).map { [$0 % 4] }).isEmpty)
    }

    @Test func `Several occasions of a loop are added up`() throws {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        for _ in 0..<3 {
            music.scoped(.screen) { music in
                for album in 1...6 as ClosedRange<UInt64> {
                    _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
                }
            }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.saving.trips == 15)
        #expect(
            finding.explanation.map(\.text).first?.hasPrefix(
                "18 fetches followed one another, about 6 on each of 3 occasions, for 18 values of album: 180 rows,")
                == true)
    }

    @Test func `The finding names the callers of the loop's function`() throws {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        let frames = [60, 61].map { line in
            let location = FrameEntry.Location(
                symbol: "s\(line)", function: "f()", file: "/src/Music/Albums.swift", line: line)
            let address = "0x\(line)00"
            _ = music.trace.define(.frame(FrameEntry(address: address, module: "music", locations: [location])))
            return address
        }
        let stack = music.trace.define(.stack(StackEntry(frames: frames)))
        music.scoped(.screen) { music in
            for album in 1...6 as ClosedRange<UInt64> {
                var fetch = TraceEvent.Fetch()
                (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (music.track, shape, 3, 1)
                (fetch.operands, fetch.parameters) = ([album], album)
                music.trace.event(.fetch(fetch), duration: 20_000, site: music.fetchSite, stack: stack)
            }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.explanation.map(\.text).last == "Called from Albums.swift:61.")
    }

    // MARK: - Fetches that are not a loop

    @Test func `Exactly one term may differ between the fetches, and it must be an equality`() {
        #expect(loop([Self.byAlbum, Self.long], operands: (1...10).map { [$0, 5] }).count == 1)
        #expect(loop([Self.long, Self.byAlbum], operands: (1...10).map { [5, $0] }).count == 1)
        // Both terms differ, only the other term differs, or the other term differs once.
        #expect(loop([Self.byAlbum, Self.long], operands: (1...10).map { [$0, $0] }).isEmpty)
        #expect(loop([Self.byAlbum, Self.long], operands: (1...10).map { [5, $0] }).isEmpty)
        #expect(loop([Self.byAlbum, Self.long], operands: (1...10).map { [$0, $0 == 7 ? 1 : 0] }).isEmpty)
    }

    @Test(arguments: [
        ShapeEntry.Term(keyPath: "milliseconds", operation: "<"), .init(keyPath: "title", operation: "BEGINSWITH"),
        .init(keyPath: "title", operation: "==", options: "c"),
        .init(keyPath: "title", operation: "!="), .init(keyPath: "title", operation: "==", isNegated: true),
        .init(keyPath: "title", operation: "==", isAlternative: true),
    ])
    func `Comparisons that IN cannot replace are not reported`(_ term: ShapeEntry.Term) {
        #expect(loop([term]).isEmpty)
    }

    @Test func `Fetches that differ in their IN lists are reported`() {
        #expect(loop([.init(keyPath: "title", operation: "IN")]).count == 1)
    }

    @Test func `Pages are not reported as a loop, but fetches limited to one row are`() {
        #expect(loop { $0.limit = 20 }.isEmpty)
        #expect(loop { $0.offset = 20 }.isEmpty)
        #expect(loop(rows: 1) { $0.limit = 1 }.count == 1)
    }

    @Test func `Batched fetches, fetches of object IDs and failed fetches are not reported`() {
        #expect(loop { $0.batchSize = 20 }.isEmpty)
        #expect(loop { $0.resultType = .objectIDs }.isEmpty)
        #expect(loop { $0.error = 5 }.isEmpty)
    }

    @Test func `Fetches of at least 100 rows each are not reported`() {
        #expect(loop(rows: 99).count == 1)
        #expect(loop(rows: 100).isEmpty)
    }

    @Test func `Fetches in separate scopes, or on separate threads, are not reported`() {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        for album in 1...10 as ClosedRange<UInt64> {
            music.scoped(.screen) { music in
                _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
            }
        }
        #expect(findings(music).isEmpty)
        music.scoped(.screen) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                music.trace.thread = UInt32(album)
                _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
            }
        }
        #expect(findings(music).isEmpty)
    }

    @Test func `Scopes of kind other within a screen do not split a loop`() {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                music.scoped(.other) { music in
                    _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
                }
            }
        }
        #expect(findings(music).count == 1)
    }

    @Test func `Fetches in scopes of kind setup are ignored`() {
        #expect(loop(scope: .setup).isEmpty)
    }

    // MARK: - Waiting

    @Test func `Without scopes, a pause of 5 ms or a scope in between ends a loop`() {
        #expect(loop(scope: nil).count == 1)
        #expect(loop(scope: nil, pause: 4_999_999).count == 1)
        #expect(loop(scope: nil, pause: 5_000_000).isEmpty)
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        for album in 1...10 as ClosedRange<UInt64> {
            _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
            music.scoped(.screen) { _ in }
        }
        #expect(findings(music).isEmpty)
    }

    @Test func `After longer fetches, longer pauses do not end a loop`() {
        var music = Music()
        music.trip = 2_000_000
        let shape = music.shape("album == ?", [Self.byAlbum])
        for album in 1...10 as ClosedRange<UInt64> {
            _ = music.fetch(shape, rows: 0) { ($0.operands, $0.parameters) = ([album], album) }
            music.trace.now += 7_000_000
        }
        #expect(findings(music).count == 1)
    }

    @Test func `A loop that spends ten times as long elsewhere is a note`() throws {
        // A fetch takes 34 µs, so 1 ms is more than ten times as long.
        let waiting = try #require(loop(pause: 1_200_000).first)
        #expect(waiting.severity == .note)
        #expect(
            waiting.reservations.map(\.text).contains(
                "Between the fetches the program spends 1.08 ms elsewhere each time, so the values may arrive one by "
                    + "one."
            ))
        #expect(waiting.evidence.first { $0.name == "waiting" }?.value == 10_800_000)
        let working = try #require(loop(pause: 1_000_000).first)
        #expect(working.reservations.map(\.text).allSatisfy { !$0.contains("elsewhere") })
    }

    @Test func `Time in the store between the fetches does not count as waiting`() throws {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                let fetch = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
                var fault = TraceEvent.Fault()
                (fault.origin, fault.source) = (fetch, .store)
                let id = music.trace.event(.fault(fault), duration: 2_000_000)
                // The statement is part of the fault and adds no time.
                music.trace.event(.sql(TraceEvent.Statement()), duration: 1_000_000, parent: id, advancing: false)
                music.trace.now += 500
            }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.evidence.first { $0.name == "waiting" }?.value == 4500)
    }

    // MARK: - Other rules

    @Test func `Results that are counted and used in part are reported by R05 instead`() {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                let fetch = music.fetch(shape, rows: 50) { ($0.operands, $0.parameters) = ([album], album) }
                var use = Music.use(of: fetch, rows: 50)
                use.countAsked = 1
                use.touchFirst(3, in: .screen)
                use.read(.title, rows: 3)
                music.add(use, shape: shape)
            }
        }
        #expect(findings(music, rules: [FetchLoopRule(), AggregateRule()]).map(\.rule) == ["R05"])
    }

    @Test func `Fetches whose values the trace does not have are an obstacle, not a finding`() throws {
        var music = Music()
        let shape = music.shape("album == ?", nil)
        for album in 1...10 as ClosedRange<UInt64> { _ = music.fetch(shape, rows: 10) { $0.parameters = album } }
        let analysis = Analysis(Profile(music.trace.closed()), rules: [FetchLoopRule()])
        #expect(analysis.findings.isEmpty)
        #expect(
            analysis.checks.first?.obstacles.map(\.text) == [
                "The trace does not show which values of 10 fetches differ."
            ])
    }

    @Test func `A saving below the thresholds is a note`() throws {
        var music = Music()
        (music.trip, music.row) = (100, 10)
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen, pause: 1_000_000_000) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
            }
            for _ in 0..<100 { _ = music.fetch(shape, rows: 1, site: music.trace.site(77)) }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms, and below 20 % of all trips."
            ])
    }

    @Test func `A finding in a scope with lost events is a note`() throws {
        var music = Music()
        let shape = music.shape("album == ?", [Self.byAlbum])
        music.scoped(.screen) { music in
            for album in 1...10 as ClosedRange<UInt64> {
                _ = music.fetch(shape, rows: 10) { ($0.operands, $0.parameters) = ([album], album) }
                if album == 5 { music.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 1))) }
            }
        }
        for _ in 0..<200 { _ = music.fetch(shape, rows: 1, site: music.trace.site(77)) }
        let finding = try #require(findings(music).first)
        #expect(finding.severity == .note)
        #expect(finding.reservations.map(\.text).contains("Events were lost while it happened."))
        #expect(finding.confidence.level == .low)
    }
}
