import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("The call sites in a log of Faultline's store")
struct LogSiteTests {
    private static let fetch = [
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0",
        "annotation: sql connection fetch time: 0.0010s",
        "annotation: total fetch execution time: 0.0020s for 3 rows.",
    ]
    private static let save = [
        "sql: BEGIN EXCLUSIVE", "sql: SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
        "sql: UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
        "annotation: sql execution time: 0.0001s", "sql: COMMIT", "sql: BEGIN EXCLUSIVE",
        "sql: INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, ?, ?, ?)",
        "annotation: sql execution time: 0.0001s", "sql: COMMIT",
    ]

    /// The fetches and saves with entities, each with its call site.
    private func sites(_ log: LogText) -> [String] {
        var entries: [DictionaryID: SiteEntry] = [:]
        for case .entry(_, let id, .site(let site)) in log.messages { entries[id] = site }
        return log.events.compactMap { event in
            switch event.detail {
            case .fetch: break
            case .save(let save) where !save.entities.isEmpty: break
            default: return nil
            }
            let site = entries[event.site].map { "\($0.file):\($0.line) \($0.function)" }
            return "\(event.kind.name) \(site ?? "unknown")"
        }
    }

    @Test func `belong to the next fetch, and to the transactions of the next save`() throws {
        let log = try LogText(
            lines: ["annotation: fetch 1 at Shop/List.swift:42 in show(_:)"] + Self.fetch + Self.fetch
                + ["annotation: save 2 at Shop/C:1 in a.swift:7 in add()"] + Self.save + Self.fetch + Self.save
                + ["annotation: count 3 at Shop/List.swift:50 in count()", "sql: SELECT COUNT(*) FROM ZITEM t0"]
                + ["annotation: total count request execution time: 0.0002s for count of 190."])
        #expect(
            sites(log) == [
                "fetch Shop/List.swift:42 show(_:)", "fetch unknown", "save Shop/C:1 in a.swift:7 add()",
                "fetch unknown", "save unknown", "fetch Shop/List.swift:50 count()",
            ])
        #expect(!log.gaps.contains { $0.kind == .callSites })
        #expect(log.summary.linesNotUnderstood == 0)
    }

    @Test func `are kept apart by the threads of the lines`() throws {
        let lines = { (thread: String, lines: [String]) in
            lines.map { "|2026-11-30 05:47:03.123 Shop[4711:\(thread)] CoreData: \($0)" }
        }
        let first = lines("a1", ["annotation: fetch 1 at Shop/List.swift:42 in show()"] + Self.fetch)
        let second = lines("b2", ["annotation: fetch 2 at Shop/Detail.swift:7 in load()"] + Self.fetch)
        let log = try LogText(lines: zip(first, second).flatMap { [$0, $1] })
        #expect(Set(sites(log)) == ["fetch Shop/List.swift:42 show()", "fetch Shop/Detail.swift:7 load()"])
        #expect(log.programs == ["4711 Shop"])
        #expect(Set(log.events.map(\.thread)) == [0xA1, 0xB2])
    }

    @Test func `are missing from Core Data's own log`() throws {
        #expect(try LogText(lines: Self.fetch).gaps.contains { $0.kind == .callSites })
    }
}
