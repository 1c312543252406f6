import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R03: over-fetch")
struct OverFetchRuleTests {
    private func findings(_ music: Music, rules: [any Rule] = [OverFetchRule()]) -> [Finding] {
        Analysis(Profile(music.trace.closed()), rules: rules).findings
    }

    /// Findings for results of `rows` rows each, with the use that `change` sets.
    private func findings(
        rows: UInt32 = 100, times: Int = 10, terms: [ShapeEntry.Term]? = [], rules: [any Rule] = [OverFetchRule()],
        _ change: (inout TraceEvent.Use) -> Void
    ) -> [Finding] {
        var music = Music()
        let shape = music.shape("", terms)
        music.calibrate(shape)
        music.fetchAndUse(shape, rows: rows, times: times, change)
        return findings(music, rules: rules)
    }

    // MARK: - Rows

    private static func first(_ count: UInt32, of use: inout TraceEvent.Use, in scope: TraceEvent.Scope.Kind? = nil) {
        use.touchFirst(count, in: scope)
        use.read(.title, rows: UInt64(count))
    }

    @Test func `R03 advises a limit if only the first rows of a result are used`() throws {
        let found = findings { Self.first(10, of: &$0) }
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.rule == "R03")
        #expect(finding.title.text == "Limit the fetch of Track to the 10 rows that are used")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["request.fetchLimit = 10"])
        #expect(
            finding.explanation.map(\.text) == [
                "Of 10 results with 1,000 rows in all, at most the first 10 of each were used, 100 in all."
            ])
        // 900 rows of 2 µs.
        #expect(abs(finding.saving.time.median - 1_800_000) < 1)
        #expect(finding.saving.rows == 900)
        #expect(finding.saving.bytes == 90_000)
        #expect(finding.saving.memory == 9000)
        // Nine unused rows for each row that is used.
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `One result of many rows suffices if only a few first ones are used`() throws {
        let finding = try #require(findings(rows: 4000, times: 1) { Self.first(1, of: &$0) }.first)
        #expect(finding.code == ["request.fetchLimit = 1"])
        #expect(findings(rows: 4000, times: 1, rules: [BatchSizeRule()]) { Self.first(1, of: &$0) }.isEmpty)
        #expect(findings(rows: 900, times: 1) { Self.first(1, of: &$0) }.isEmpty)
        #expect(findings(rows: 4000, times: 1) { Self.first(6, of: &$0) }.isEmpty)
    }

    @Test func `R03 advises a predicate or a sorted limit if the program chooses rows by a property`() throws {
        func choose(_ chosen: UInt64, of rows: UInt32 = 6000, rules: [any Rule] = [OverFetchRule()]) -> [Finding] {
            findings(rows: rows, times: 1, rules: rules) { use in
                use.touchFirst(rows)
                use.read(.milliseconds, rows: UInt64(rows))
                use.read(.title, rows: chosen)
            }
        }
        let finding = try #require(choose(80).first)
        #expect(finding.title.text == "Choose the rows of Track by milliseconds in the request, not in the program")
        #expect(
            finding.explanation.map(\.text) == [
                "Of 1 result with 6,000 rows in all, the program read milliseconds of every row, and other values of 80."
            ])
        #expect(finding.saving.rows == 5920 && finding.severity == .warning)
        #expect(choose(80, rules: [UnboundedFetchRule()]).isEmpty)
        // All values are needed, none is, or there are few rows.
        #expect(choose(3000).isEmpty && choose(3000, rules: [UnboundedFetchRule()]).count == 1)
        #expect(choose(0).isEmpty && choose(10, of: 150).isEmpty)
    }

    @Test func `R03 advises a range of each property if the program chooses rows by several`() throws {
        func choose(_ chosen: UInt64, _ properties: [Music.Property] = [.milliseconds, .album]) -> [Finding] {
            findings(rows: 6000, times: 1) { use in
                use.touchFirst(6000)
                for property in properties { use.read(property, rows: 6000) }
                use.read(.lyrics, rows: chosen)
            }
        }
        let finding = try #require(choose(80).first)
        #expect(
            finding.title.text
                == "Choose the rows of Track by album and milliseconds in the request, not in the program")
        #expect(
            finding.code == [
                "request.predicate =", #"    PropertyPath("album").between(…, and: …)"#,
                #"    && PropertyPath("milliseconds").between(…, and: …)"#,
            ])
        #expect(finding.saving.rows == 5920 && finding.severity == .warning)
        // A chart may show more of some points, and a list the texts of all rows.
        #expect(choose(301).isEmpty && choose(80, [.milliseconds, .title]).isEmpty)
    }

    @Test func `If SQLite sorts the rows itself, a limit saves about half of their cost`() throws {
        var music = Music()
        let shape = music.shape(sort: ["title ascending"])
        music.calibrate(shape)
        for _ in 0..<10 {
            let fetch = music.fetch(shape, rows: 100)
            var statement = TraceEvent.Statement()
            (statement.sorts, statement.rows) = (1, 100)
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
            var use = Music.use(of: fetch, rows: 100)
            Self.first(10, of: &use)
            music.add(use, shape: shape)
        }
        let finding = try #require(findings(music).first)
        // Half of the cost of 900 rows of 2 µs, or as little as three tenths, or nearly all.
        #expect(abs(finding.saving.time.median - 900_000) < 1)
        #expect(abs(finding.saving.time.low - 540_000) < 1 && abs(finding.saving.time.high - 1_620_000) < 1)
    }

    @Test func `R03 advises just a limit for a result that is also tested for emptiness`() {
        let found = findings {
            Self.first(1, of: &$0)
            $0.countAsked = 1
            $0.emptinessAsked = 1
        }
        #expect(found.map(\.code) == [["request.fetchLimit = 1"]])
    }

    @Test func `Results that are also counted are reported by R05`() {
        let found = findings(rules: [OverFetchRule(), AggregateRule()]) {
            Self.first(3, of: &$0)
            $0.countAsked = 1
        }
        #expect(found.map(\.rule) == ["R05"])
    }

    @Test func `Two results, few rows, and results of which more than half are used are not reported`() {
        #expect(findings(times: 2) { Self.first(10, of: &$0) }.isEmpty)
        #expect(findings(rows: 16, times: 3) { Self.first(1, of: &$0) }.isEmpty)
        #expect(findings(rows: 17, times: 3) { Self.first(1, of: &$0) }.count == 1)
        #expect(findings { Self.first(51, of: &$0) }.isEmpty)
        #expect(findings { Self.first(50, of: &$0) }.count == 1)
    }

    @Test func `A list on a screen is reported by R02, and a short or well-batched list by no rule`() {
        let rules: [any Rule] = [OverFetchRule(), BatchSizeRule()]
        #expect(findings(rules: rules) { Self.first(10, of: &$0, in: .screen) }.map(\.rule) == ["R02"])
        #expect(findings(rows: 30, rules: rules) { Self.first(10, of: &$0, in: .screen) }.isEmpty)
        let batched = findings(rules: rules) {
            Self.first(10, of: &$0, in: .screen)
            ($0.batchSize, $0.loadedRows) = (15, 15)
        }
        #expect(batched.isEmpty)
        #expect(findings(rules: rules) { Self.first(10, of: &$0, in: .request) }.map(\.rule) == ["R03"])
    }

    @Test func `Results are not reported if more than 10 % are still in use at the end`() {
        var music = Music()
        let shape = music.shape()
        music.fetchAndUse(shape, rows: 100, times: 8) { Self.first(10, of: &$0) }
        music.fetchAndUse(shape, rows: 100) {
            Self.first(10, of: &$0)
            $0.state = .open
        }
        #expect(findings(music).isEmpty)
        // One of ten is few enough.
        music.fetchAndUse(shape, rows: 100) { Self.first(10, of: &$0) }
        #expect(findings(music).count == 1)
    }

    @Test func `Results in scopes of kind setup are ignored`() {
        var music = Music()
        let shape = music.shape()
        music.scoped(.setup) { $0.fetchAndUse(shape, rows: 100, times: 10) { Self.first(10, of: &$0) } }
        #expect(findings(music).isEmpty)
    }

    @Test func `R03 advises fetching only the rows that are used if reads are scattered`() throws {
        // The rows are so far apart that no batch size loads fewer, and each batch costs a trip.
        let found = findings(rows: 60, rules: [OverFetchRule(), BatchSizeRule()]) { use in
            use.touchedRows = 12
            use.runs = (0..<12).map { .init(first: $0 * 5, rows: 1) }
            use.windows = [.init(scopeKind: .request, rows: 12, times: 1)]
            use.read(.title, rows: 12)
        }
        #expect(found.map(\.rule) == ["R03"])
        let finding = try #require(found.first)
        #expect(finding.title.text == "Fetch only the rows of Track that are used")
        #expect(finding.code.isEmpty)
        #expect(
            finding.explanation.map(\.text) == [
                "Of 10 results with 600 rows in all, 120 were used, scattered over the results."
            ])
        #expect(abs(finding.saving.time.median - 480 * 2000) < 1)
    }

    @Test func `A short list on a screen, of which some rows are used, is not reported`() {
        let found = findings(rows: 30, rules: [OverFetchRule(), BatchSizeRule()]) { use in
            use.touchedRows = 12
            use.runs = [.init(first: 3, rows: 6), .init(first: 15, rows: 6)]
            use.windows = [.init(scopeKind: .screen, rows: 12, times: 1)]
            use.read(.title, rows: 12)
        }
        #expect(found.isEmpty)
    }

    @Test func `Scattered reads for which batches would help are reported by R02`() {
        let found = findings(rows: 10_000, rules: [OverFetchRule(), BatchSizeRule()]) { use in
            use.touchedRows = 10
            use.runs = (0..<10).map { .init(first: $0 * 900 + 100, rows: 1) }
            use.windows = [.init(scopeKind: .request, rows: 10, times: 1)]
            use.read(.title, rows: 10)
        }
        #expect(found.map(\.rule) == ["R02"])
    }

    @Test func `A saving below the thresholds is a note`() throws {
        var music = Music()
        music.row = 10
        let shape = music.shape()
        music.calibrate(shape)
        music.scoped(.request, pause: 1_000_000_000) { music in
            music.fetchAndUse(shape, rows: 20, times: 3) { Self.first(1, of: &$0) }
            music.fetchAndUse(shape, rows: 500, site: music.trace.site(77)) { $0.touchFirst(500) }
        }
        let finding = try #require(findings(music).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms, and below 20 % of all rows."
            ])
    }

    // MARK: - Object IDs

    @Test func `R03 advises object IDs instead of objects of which nothing is read`() throws {
        let finding = try #require(findings { $0.touchFirst(100) }.first)
        #expect(finding.title.text == "Fetch object IDs of Track, since nothing else is used")
        #expect(finding.code == ["let ids = try context.fetchObjectIDs(request)"])
        #expect(
            finding.explanation.map(\.text) == [
                "The program took the objects or their IDs from 10 results with 1,000 rows in all, but neither read "
                    + "nor changed any value."
            ])
        // Without a fit of its own, an object ID costs a quarter of a row.
        #expect(abs(finding.saving.time.median - 1000 * 1500) < 1)
    }

    @Test func `R03 advises object IDs for results of which only the IDs are used, counted or not`() {
        #expect(findings { $0.identitiesAsked = 1 }.map(\.code) == [["let ids = try context.fetchObjectIDs(request)"]])
        let counted = findings(rules: [OverFetchRule(), AggregateRule()]) {
            ($0.identitiesAsked, $0.countAsked) = (1, 1)
        }
        #expect(counted.map(\.rule) == ["R03"])
        // If the first rows are read as well, all rows are used.
        let shown = findings {
            Self.first(3, of: &$0)
            $0.identitiesAsked = 1
        }
        #expect(shown.isEmpty)
        // With two such results in ten, a limit is not advised.
        for ids in [1, 2] {
            var music = Music()
            let shape = music.shape()
            music.fetchAndUse(shape, rows: 100, times: 10 - ids) { Self.first(3, of: &$0) }
            music.fetchAndUse(shape, rows: 100, times: ids) { $0.identitiesAsked = 1 }
            #expect(findings(music).count == 2 - ids)
        }
    }

    @Test func `R03 does not advise object IDs instead of objects that are read or changed`() {
        #expect(
            findings {
                $0.touchFirst(100)
                $0.read(.album, rows: 1)
            }.isEmpty)
        #expect(
            findings {
                $0.touchFirst(100)
                $0.modifiedRows = 1
            }.isEmpty)
        // An older recorder did not record whether objects were changed.
        #expect(findings(terms: nil) { $0.touchFirst(100) }.isEmpty)
        // Nothing was loaded.
        #expect(
            findings {
                $0.touchFirst(100)
                $0.bytes = 0
            }.isEmpty)
    }

    // MARK: - Values

    /// Findings for tracks whose titles are read, with lyrics of `size` bytes.
    private func lyrics(
        size: UInt64 = 2000, title: UInt64 = 20, rows: UInt32 = 200, times: Int = 3, read: UInt64 = 0,
        terms: [ShapeEntry.Term]? = [], rules: [any Rule] = [OverFetchRule()],
        _ change: (inout TraceEvent.Use) -> Void = { _ in }
    ) -> [Finding] {
        var music = Music()
        // A row of 2,000 bytes costs 4 µs, which is 2 ns per byte.
        music.row = 4000
        let shape = music.shape("", terms)
        music.fetchAndUse(shape, rows: rows, times: times) { use in
            use.touchFirst(rows)
            use.read(.title, rows: UInt64(rows), bytes: UInt64(rows) * title)
            use.read(.lyrics, rows: read, bytes: UInt64(rows) * size)
            use.read(.milliseconds, rows: 0, bytes: UInt64(rows) * 8)
            change(&use)
        }
        return findings(music, rules: rules)
    }

    @Test func `R03 advises moving long texts that no fetch reads out of the rows`() throws {
        let found = lyrics()
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.title.text == "Keep Track.lyrics out of the rows that this fetch loads")
        #expect(finding.change?.description == "List.swift:42")
        #expect(
            finding.code == [
                "// In the model: Track.lyrics: to-one TrackLyrics", "// In the model: TrackLyrics.lyrics: String",
            ])
        // 2,000 of 2,028 bytes in each of 600 rows.
        #expect(
            finding.explanation.map(\.text) == [
                "It was read in none of 600 rows, and makes up 99 % of the loaded bytes: 1.14 MiB."
            ])
        #expect(finding.saving.bytes == 1_200_000)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(figures["rows"] == 600 && figures["bytes"] == 1_216_800)
        #expect(abs((figures["unreadShare"] ?? 0) - 1_200_000.0 / 1_216_800) < 1e-9)
        // The assumed 0.8 ns per byte.
        #expect(abs(finding.saving.time.median - 960_000) < 1)
        #expect(finding.severity == .warning)
        #expect(finding.confidence.level == .low)
    }

    @Test func `Texts that are read in one row, short texts, and texts in few rows are not reported`() {
        #expect(lyrics(read: 1).isEmpty)
        #expect(lyrics(size: 255).isEmpty)
        #expect(lyrics(size: 256).count == 1)
        #expect(lyrics(rows: 33).isEmpty)
        #expect(lyrics(rows: 34).count == 1)
        // Less than 30 % of the row.
        #expect(lyrics(size: 400, title: 1000).isEmpty)
        #expect(lyrics(size: 500, title: 1000).count == 1)
    }

    @Test func `A text that another line reads with the same shape is not reported`() {
        var music = Music()
        let shape = music.shape()
        for (site, read) in [(nil, 0), (music.trace.site(77), 1)] as [(DictionaryID?, UInt64)] {
            music.fetchAndUse(shape, rows: 200, times: 3, site: site) { use in
                use.touchFirst(200)
                use.read(.title, rows: 200, bytes: 4000)
                use.read(.lyrics, rows: read, bytes: 400_000)
            }
        }
        #expect(findings(music).isEmpty)
    }

    @Test func `The finding says that other shapes that read the text would have to prefetch it`() throws {
        var music = Music()
        let shapes = [music.shape(), music.shape("", [], sort: ["title ascending"])]
        for (shape, read) in zip(shapes, [0, 200] as [UInt64]) {
            music.fetchAndUse(shape, rows: 200, times: 3) { use in
                use.touchFirst(200)
                use.read(.title, rows: 200, bytes: 4000)
                use.read(.lyrics, rows: read, bytes: 400_000)
            }
        }
        let found = findings(music)
        #expect(found.count == 1)
        #expect(
            found.first?.reservations.map(\.text).contains("Other fetches read it and would have to prefetch it.")
                == true)
    }

    @Test func `Texts of objects that are changed, held or perhaps handed on are not reported`() {
        #expect(lyrics { $0.modifiedRows = 1 }.isEmpty)
        #expect(lyrics { $0.state = .open }.isEmpty)
        #expect(lyrics { $0.properties[0].rowsRead = 179 }.isEmpty)
        #expect(lyrics { $0.properties[0].rowsRead = 180 }.count == 1)
        #expect(lyrics(terms: nil).isEmpty)
    }

    @Test func `Values of many kilobytes are reported by R09`() {
        let found = lyrics(size: 40_000, rules: [OverFetchRule(), LargeValueRule()]) {
            $0.properties[1].largeRows = $0.properties[1].rowsLoaded
        }
        #expect(found.map(\.rule) == ["R09"])
    }

    @Test func `Unused rows are one finding, although their texts are unread too`() {
        let found = lyrics { use in
            Self.first(3, of: &use)
            use.properties.removeLast()
        }
        #expect(found.map(\.title.text) == ["Limit the fetch of Track to the 3 rows that are used"])
    }
}
