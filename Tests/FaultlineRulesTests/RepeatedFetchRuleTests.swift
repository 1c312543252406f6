import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R18: repeated fetches")
struct RepeatedFetchRuleTests {
    private static let byTitle = ShapeEntry.Term(keyPath: "title", operation: "==")

    private struct Library: MusicStory {
        var music = Music()
        lazy var shape = music.shape("title == ?", [RepeatedFetchRuleTests.byTitle])

        mutating func fetch(
            _ times: Int = 1, shape: DictionaryID? = nil, rows: UInt32 = 20, gap: UInt64 = 1000,
            _ change: (inout TraceEvent.Fetch) -> Void = { _ in }
        ) {
            for _ in 0..<times {
                _ = music.fetch(shape ?? self.shape, rows: rows) { fetch in
                    fetch.parameters = 77
                    change(&fetch)
                }
                music.trace.now += gap
            }
        }

        mutating func write(_ entity: DictionaryID? = nil) {
            var save = TraceEvent.Save()
            save.updated = 1
            save.entities = [.init(entity: entity ?? music.track, updated: 1)]
            music.trace.event(.save(save), duration: 50_000)
        }

        /// Turns the objects of a context into faults, at line 60.
        mutating func refresh(_ entity: DictionaryID = 0, in context: DictionaryID = 0) {
            var refresh = TraceEvent.Refresh()
            (refresh.entity, refresh.objects) = (entity, 20)
            let (site, before) = (music.trace.site(60, "reload()"), music.trace.context)
            if context != 0 { music.trace.context = context }
            music.trace.event(.refresh(refresh), duration: 5000, site: site)
            music.trace.context = before
        }

        func analysis(_ rules: [any Rule] = [RepeatedFetchRule()]) -> Analysis {
            Analysis(Profile(music.trace.closed()), rules: rules)
        }
    }

    private func findings(_ body: (inout Library) -> Void) -> [Finding] {
        var library = Library()
        body(&library)
        return library.analysis().findings
    }

    @Test func `Repetitions in a loop are reported only if R04 does not report the loop`() throws {
        func rules(rows: UInt32) -> [String] {
            var library = Library()
            library.scoped(.request) { library in
                for _ in 0..<10 {
                    for value in 1...5 as ClosedRange<UInt64> {
                        library.fetch(rows: rows) { ($0.parameters, $0.operands) = (value, [value]) }
                    }
                }
            }
            return library.analysis([RepeatedFetchRule(), FetchLoopRule()]).findings.map(\.rule)
        }
        #expect(rules(rows: 20) == ["R04"])
        #expect(rules(rows: 200) == ["R18"])
    }

    @Test func `A fetch that runs ten times with the same values is reported`() throws {
        var library = Library()
        library.scoped(.request) { $0.fetch(10) }
        let analysis = library.analysis()
        #expect(analysis.checks.map(\.examined?.text) == ["10 fetches"])
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.count == 1)
        #expect(finding.rule == "R18")
        #expect(finding.title.text == "Run the fetch of Track once, and keep its result")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.severity == .warning)
        #expect(
            finding.explanation.map(\.text) == [
                "10 fetches with the same values: 500 µs in all, 180 rows loaded again."
            ])
        #expect(finding.saving.time == Saving.Range(median: 450_000, low: 450_000, high: 450_000))
        #expect(finding.saving.trips == 9 && finding.saving.rows == 180)
        #expect(finding.confidence.level == .high && finding.code.isEmpty)
        #expect(finding.signature.hasPrefix("R18|Track#") && finding.signature.hasSuffix("|tracks()"))
        #expect(finding.scopes == ["album"])
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "executions": 10, "occurrences": 1, "most": 10, "trips": 9, "rows": 180, "fetchTime": 500_000,
                "longest": 50_000, "wallTime": 510_000,
            ])
    }

    @Test func `Two to four equal fetches are a note, and five are a warning`() {
        for times in 2...4 { #expect(findings { $0.scoped(.request) { $0.fetch(times) } }.map(\.severity) == [.note]) }
        #expect(findings { $0.scoped(.request) { $0.fetch(5) } }.map(\.severity) == [.warning])
        #expect(findings { $0.scoped(.request) { $0.fetch(1) } }.isEmpty)
    }

    @Test func `Repetitions in different scopes are separate occasions`() throws {
        let finding = try #require(
            findings { library in
                library.scoped(.request) { $0.fetch(5) }
                library.scoped(.request) { $0.fetch(7) }
            }.first)
        #expect(
            finding.explanation.map(\.text) == [
                "12 fetches with the same values on 2 occasions, up to 7 times on one: 600 µs in all, 200 rows loaded again."
            ])
        #expect(finding.saving.trips == 10)
        #expect(finding.saving.time.median == 500_000)
    }

    @Test func `The saving excludes the longest fetch`() {
        let finding = findings { library in
            library.scoped(.request) { library in
                for duration in [400_000, 100_000, 100_000] as [UInt64] {
                    _ = library.music.fetch(library.shape, rows: 20, duration: duration) { $0.parameters = 77 }
                }
            }
        }
        #expect(finding.map(\.saving.time.median) == [200_000])
        #expect(finding.map { $0.saving.time.high.rounded() } == [400_000])
    }

    @Test func `A refresh before each repetition is named, because the program wrote nothing`() throws {
        var library = Library()
        library.scoped(.screen) { library in
            for _ in 0..<6 {
                library.fetch()
                library.refresh()
            }
        }
        let finding = try #require(library.analysis().findings.first)
        #expect(finding.title.text == "Run the fetch of Track once, and keep its result")
        #expect(
            finding.explanation.map(\.text) == [
                "6 fetches with the same values: 300 µs in all, 100 rows loaded again.",
                "The context refreshed objects at List.swift:60 before 5 of them, although the program had written nothing.",
            ])
        #expect(
            finding.fix.text
                == "Remove the refresh, and keep the result: the program wrote nothing that could change it. A context learns of the program's own saves without a refresh."
        )
        #expect(
            finding.alternatives.map(\.text) == [
                "If another process writes to the store, keep the refresh, and fetch only after such a write."
            ])
        #expect(finding.severity == .warning && finding.confidence.level == .medium)
        #expect(finding.evidence.first { $0.name == "refreshed" }?.value == 5)
        let stored = try Profile(fileData: Profile(library.music.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [RepeatedFetchRule()]).findings == [finding])
    }

    @Test func `A refresh after a write, of other objects or in another context is not the reason`() {
        func refreshed(_ between: @escaping (inout Library) -> Void) -> [Double?] {
            findings { library in
                library.scoped(.screen) { library in
                    for _ in 0..<6 {
                        library.fetch()
                        between(&library)
                    }
                }
            }.map { $0.evidence.first { $0.name == "refreshed" }?.value }
        }
        #expect(refreshed { $0.refresh($0.music.track) } == [5])
        #expect(refreshed { $0.refresh($0.music.album) } == [nil])
        #expect(refreshed { $0.refresh(in: 88) } == [nil])
        #expect(
            refreshed {
                $0.write()
                $0.refresh()
            } == [])
    }

    // MARK: - Fetches that are not repetitions

    @Test func `A write in between to an entity of the request ends a repetition`() {
        #expect(
            findings { library in
                library.scoped(.request) { library in
                    for _ in 0..<5 {
                        library.fetch()
                        library.write()
                    }
                }
            }.isEmpty)
        // A write in the middle separates two occasions.
        let halves = findings { library in
            library.scoped(.request) { library in
                library.fetch(5)
                library.write()
                library.fetch(5)
            }
        }
        #expect(halves.map { $0.evidence.first { $0.name == "occurrences" }?.value } == [2])
        // A write to another entity does not matter, unless the request's key paths lead there.
        func between(_ shape: @escaping (inout Music) -> DictionaryID) -> [Finding] {
            findings { library in
                let byAlbum = shape(&library.music)
                library.scoped(.request) { library in
                    for _ in 0..<5 {
                        library.fetch(shape: byAlbum)
                        library.write(library.music.album)
                    }
                }
            }
        }
        #expect(between { $0.shape("title == ?", [Self.byTitle]) }.count == 1)
        #expect(between { $0.shape("album.title.text == ?", [.init(keyPath: "album.title", operation: "==")]) }.isEmpty)
        #expect(between { $0.shape("title == ?", [Self.byTitle], sort: ["album.title ascending"]) }.isEmpty)
        // If the trace does not have the key paths, any write counts.
        #expect(between { $0.shape("title == ?", nil) }.isEmpty)
        #expect(between { $0.shape("length(title) == ?", [.init(keyPath: "length(title)", operation: "==")]) }.isEmpty)
    }

    @Test func `A write to another entity of the same inheritance tree ends a repetition`() {
        var library = Library()
        let song = library.music.trace.define(.entity(EntityEntry(name: "Song", root: "Track")))
        library.scoped(.request) { library in
            for _ in 0..<5 {
                library.fetch()
                library.write(song)
            }
        }
        #expect(library.analysis().findings.isEmpty)
    }

    @Test func `A write on another thread counts, whatever its position in the trace`() {
        for isToldInTime in [false, true] {
            var library = Library()
            library.scoped(.request) { library in
                let start = library.music.trace.now
                if !isToldInTime { library.fetch(5) }
                let end = library.music.trace.now
                library.music.trace.thread = 9
                library.music.trace.now = start + 60_000
                library.write()
                library.music.trace.thread = 7
                library.music.trace.now = isToldInTime ? start : end
                if isToldInTime { library.fetch(5) }
            }
            let count = library.analysis().findings.first?.evidence.first { $0.name == "executions" }?.value
            // A write in order separates the fetches before it, during it and after it.
            #expect(count == (isToldInTime ? 4 : nil))
        }
    }

    @Test func `Other values, limits, offsets, row counts, errors or scopes make other fetches`() {
        func many(_ change: @escaping (Int, inout TraceEvent.Fetch) -> Void) -> [Finding] {
            findings { library in
                library.scoped(.request) { library in
                    for number in 0..<6 { library.fetch { change(number, &$0) } }
                }
            }
        }
        #expect(many { _, _ in }.count == 1)
        #expect(many { $1.parameters = UInt64($0) }.isEmpty)
        #expect(many { $1.limit = UInt32($0) + 1 }.isEmpty)
        #expect(many { $1.offset = UInt32($0) * 20 }.isEmpty)
        #expect(many { $1.rows = UInt32($0) }.isEmpty)
        #expect(many { $1.error = UInt32($0) + 1 }.isEmpty)
        #expect(findings { library in for _ in 0..<6 { library.scoped(.request) { $0.fetch() } } }.isEmpty)
    }

    @Test func `Scopes of kind setup are ignored, and without scopes a pause of 100 ms ends an occasion`() {
        #expect(findings { $0.scoped(.setup) { $0.fetch(10) } }.isEmpty)
        #expect(findings { $0.fetch(10) }.count == 1)
        #expect(findings { $0.fetch(10, gap: 100_000_000) }.isEmpty)
    }

    @Test func `Fetches at regular intervals are a note about polling`() throws {
        let finding = try #require(findings { $0.scoped(.request) { $0.fetch(20, gap: 150_000_000) } }.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The fetches run at regular intervals, as if a timer polled for changes by others."
            ])
        let irregular = findings { library in
            library.scoped(.request) { library in
                for gap in [100, 500, 100, 900, 100, 700] as [UInt64] { library.fetch(gap: gap * 1_000_000) }
            }
        }
        #expect(irregular.map(\.severity) == [.warning])
    }

    @Test func `A loop with repeated values is reported by R04 alone`() {
        var library = Library()
        library.scoped(.request) { library in
            for value in (1...8 as ClosedRange<UInt64>).flatMap({ [$0, $0] }) {
                library.fetch {
                    $0.parameters = value
                    $0.operands = [value]
                }
            }
        }
        #expect(library.analysis([RepeatedFetchRule(), FetchLoopRule()]).findings.map(\.rule) == ["R04"])
    }

    @Test func `R18 advises asking the context for an object that is repeatedly fetched by its ID`() throws {
        let finding = try #require(
            findings { library in
                let byID = library.music.shape(
                    "SELF == ?", [.init(keyPath: "SELF", operation: "==", operand: "object")])
                library.scoped(.request) { $0.fetch(6, shape: byID, rows: 1) }
            }.first)
        #expect(finding.title.text == "Get the Track from the context by its ID instead of fetching it")
        #expect(finding.code == ["let object = context.object(with: id)"])
    }

    @Test func `The wall time of a finding includes the scope's time after its last fetch`() {
        let found = findings { library in
            library.scoped(.request, pause: 1_000_000) { library in
                library.fetch(6)
                library.write()
            }
        }
        let wallTime = found.first?.evidence.first { $0.name == "wallTime" }?.value
        #expect(wallTime == Double(6 * 51_000 + 50_000 + 1_000_000))
    }

    @Test func `Impossible durations do not stop the analysis`() {
        var library = Library()
        library.music.trace.isMainThread = true
        for _ in 0..<1100 {
            library.music.trace.now = 1000
            library.scoped(.request) { library in
                for _ in 0..<2 {
                    _ = library.music.fetch(library.shape, rows: 1, duration: 1 << 53) { $0.parameters = 77 }
                }
            }
        }
        #expect(library.analysis(Rules.all).findings.map(\.rule) == ["R18"])
    }

    @Test func `A finding with lost events is a note`() {
        var library = Library()
        library.scoped(.request) { library in
            library.fetch(5)
            library.music.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 3)))
            library.fetch(5)
        }
        #expect(library.analysis().findings.map(\.severity) == [.note])
    }
}
