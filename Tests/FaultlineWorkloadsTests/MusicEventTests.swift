import FaultlineRecorder
import FaultlineTrace
import FaultlineWorkloads
import Foundation
import SharedData
import Testing

/// The trace of a form's run over Chinook.
struct RecordedForm {
    let events: [TraceEvent]
    let dictionary: TraceDictionary

    init(_ flaws: MusicLibraryFlaws) throws {
        let store = try ChinookStores.store(for: flaws)
        // Enough for every event.
        let recorder = Recorder.memory(ringBytes: 64 << 20)
        _ = try MusicLibrary(MusicLibraryForm(visibleRows: 20, flaws: flaws), at: store, recorder: recorder).run()
        let messages = recorder.messages()
        var dictionary = TraceDictionary()
        var events: [TraceEvent] = []
        for message in messages {
            switch message {
            case .event(let event): events.append(event)
            case .entry(_, let id, let entry): dictionary.insert(entry, id: id)
            case .lost(let loss): Issue.record("\(loss.events) events were lost")
            default: break
            }
        }
        self.events = events
        self.dictionary = dictionary
    }

    /// Returns the fetches whose call is on the line of a source file that contains a text.
    func fetches(at text: String, in file: String) throws -> [TraceEvent.Fetch] {
        let line = try Self.line(text, in: file)
        return events.compactMap { event in
            guard case .fetch(let fetch) = event.detail, let site = dictionary.site(event.site),
                site.file == "FaultlineWorkloads/\(file)", site.line == line
            else { return nil }
            return fetch
        }
    }

    /// Returns the fetches of each screen, by the scope in which they ran.
    func fetches(inScope name: String) -> [[TraceEvent.Fetch]] {
        var scopes: [EventID] = []
        var fetches: [EventID: [TraceEvent.Fetch]] = [:]
        for event in events {
            switch event.detail {
            case .scope(let scope) where scope.phase == .begin && dictionary.name(scope.name) == name:
                scopes.append(event.id)
            case .fetch(let fetch): fetches[event.scope, default: []].append(fetch)
            default: break
            }
        }
        return scopes.map { fetches[$0] ?? [] }
    }

    /// Counts the faults of a relationship that went to the store.
    func trips(_ relationship: String, of entity: String) -> Int {
        events.filter { event in
            guard case .fault(let fault) = event.detail else { return false }
            return fault.source == .store && dictionary.name(fault.relationship) == relationship
                && dictionary.entity(fault.relationshipEntity)?.name == entity
        }.count
    }

    /// Returns the statements that read a table.
    func reads(from table: String) -> [(sql: String, plan: [String], statement: TraceEvent.Statement)] {
        events.compactMap { event in
            guard case .sql(let statement) = event.detail, statement.type == .read,
                let sql = dictionary.statement(statement.statement)?.sql, sql.contains(" FROM \(table) t0")
            else { return nil }
            return (sql, dictionary.plan(statement.plan)?.rows.map(\.detail) ?? [], statement)
        }
    }

    func shape(_ fetch: TraceEvent.Fetch) -> ShapeEntry? { dictionary.shape(fetch.shape) }

    static func line(_ text: String, in file: String) throws -> Int {
        let folder = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let source = folder.appendingPathComponent("Sources/Command/FaultlineWorkloads/MusicLibrary/\(file)")
        let lines = try String(contentsOf: source, encoding: .utf8).components(separatedBy: "\n")
        let places = lines.indices.filter { lines[$0].contains(text) }
        try #require(places.count == 1, "\"\(text)\" stands once in \(file)")
        return places[0] + 1
    }
}

@Suite("The events show what a flaw costs", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MusicEventTests {
    @Test("Songs that look up their albums take a trip per album, and prefetched albums take none")
    func album() throws {
        let flawed = try RecordedForm(.albumPerTrack)
        let improved = try RecordedForm([])
        let fetch = "let entries = try context.fetch(request)"
        for (form, prefetch) in [(flawed, "track"), (improved, "track.album")] {
            let fetches = try form.fetches(at: fetch, in: "MusicLibrary+Playlists.swift")
            #expect(fetches.count == 18)
            #expect(fetches.allSatisfy { form.shape($0)?.prefetch == [prefetch] && $0.batchSize == 30 })
        }
        #expect(flawed.trips("album", of: "Track") == 210)
        #expect(improved.trips("album", of: "Track") == 0)
    }

    @Test("Searching the original titles scans every song, and searching folded titles and words uses an index")
    func search() throws {
        let flawed = try RecordedForm(.textSearch)
        let scans = flawed.reads(from: "ZTRACK").filter { $0.sql.contains("NSCoreDataStringSearch") }
        #expect(scans.count == 16)
        #expect(scans.allSatisfy { $0.plan == ["SCAN t0"] && $0.statement.fullScanSteps == 3502 })
        for line in ["fetch(request)), for: text", "fetch(request).filter"] {
            #expect(try flawed.fetches(at: line, in: "MusicLibrary+Search.swift").count == 8)
        }

        let improved = try RecordedForm([])
        let titles = improved.reads(from: "ZTRACK").filter { $0.sql.contains("ZFOLDEDTITLE >= ?") }
        #expect(titles.count == 8)
        let range = "SEARCH t0 USING COVERING INDEX Z_Track_byFoldedTitle (ZFOLDEDTITLE>? AND ZFOLDEDTITLE<?)"
        #expect(titles.allSatisfy { $0.plan == [range] && $0.statement.sorts == 0 })
        let words = improved.reads(from: "ZTITLEWORD")
        #expect(words.count == 8)
        let word = "SEARCH t0 USING INDEX Z_TitleWord_byText (ZTEXT>? AND ZTEXT<?)"
        #expect(words.allSatisfy { $0.plan == [word] })
        #expect((titles + words).allSatisfy { $0.statement.fullScanSteps == 0 })
    }

    @Test("Fetching songs to count them loads them all, and counting them in the store loads none")
    func count() throws {
        let flawed = try RecordedForm(.countByFetching)
        let all = try flawed.fetches(at: "let all = try context.fetch(request)", in: "MusicLibrary+Playlists.swift")
        #expect(all.count == 18)
        #expect(all.reduce(0) { $0 + $1.rows } == 8715)
        let uses = flawed.events.compactMap { event -> TraceEvent.Use? in
            guard case .use(let use) = event.detail, all.contains(where: { $0.shape == use.shape }) else { return nil }
            return use.batchSize == 0 ? use : nil
        }
        #expect(uses.count == 18)
        #expect(uses.allSatisfy { $0.countAsked == 1 && $0.touchedRows == min($0.rows, 3) })

        let cards = try RecordedForm([]).fetches(inScope: "playlist card")
        #expect(cards.count == 18)
        #expect(cards.allSatisfy { $0.map(\.resultType) == [.count, .objects] && $0[1].limit == 3 })
        #expect(cards.reduce(0) { $0 + $1[0].rows } == 8715)
        #expect(cards.reduce(0) { $0 + $1[1].rows } == 38)
    }

    @Test("Summing a length over objects loads them all, and summing it in the store returns one row")
    func sum() throws {
        let flawed = try RecordedForm(.sumInMemory)
        let all = try flawed.fetches(at: "context.fetch(FetchRequest<Track>())", in: "MusicLibrary+Length.swift")
        #expect(all.map(\.rows) == [3503])

        let improved = try RecordedForm([])
        let sums = try improved.fetches(at: "context.fetchDictionaries(request)", in: "MusicLibrary+Length.swift")
        #expect(sums.map(\.resultType) == [.dictionaries])
        #expect(sums.map(\.rows) == [1] && sums.map(\.trips) == [1])
        #expect(improved.shape(sums[0])?.expressions == ["count:(number)", "sum:(milliseconds)"])
    }

    @Test("Fetching songs album by album takes a fetch per album, and fetching them for all albums takes one")
    func lookup() throws {
        let flawed = try RecordedForm(.fetchPerAlbum)
        let improved = try RecordedForm([])
        let perArtist = flawed.fetches(inScope: "artist").map(\.count)
        // For the artists with the most albums: one fetch of their albums, and one per album.
        #expect(perArtist == [21, 14, 11, 10, 10, 6, 5, 4, 4, 4].map { $0 + 1 })
        #expect(improved.fetches(inScope: "artist").map(\.count) == Array(repeating: 2, count: 10))
        let loop = try flawed.fetches(at: "return Array(try context.fetch(request))", in: "MusicLibrary+Artists.swift")
        #expect(loop.count == 89)
        #expect(Set(loop.map(\.shape)).count == 1 && Set(loop.map(\.parameters)).count == 89)
        let once = try improved.fetches(at: "for track in try context.fetch(request)", in: "MusicLibrary+Artists.swift")
        #expect(once.count == 10)
        #expect(once.reduce(0) { $0 + $1.rows } == loop.reduce(0) { $0 + $1.rows })
    }

    @Test("All flaws together take more than twice the trips and the rows")
    func all() throws {
        func cost(_ form: RecordedForm) -> (trips: Int, rows: Int) {
            form.events.reduce(into: (trips: 0, rows: 0)) { cost, event in
                guard case .sql(let statement) = event.detail, statement.type == .read else { return }
                cost.trips += 1
                cost.rows += Int(statement.rows)
            }
        }
        let flawed = cost(try RecordedForm(.all))
        let improved = cost(try RecordedForm([]))
        #expect(flawed.trips == 407)
        #expect(improved.trips == 186)
        #expect(flawed.rows > improved.rows * 2)
    }
}
