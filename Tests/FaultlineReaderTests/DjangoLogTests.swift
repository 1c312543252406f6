import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("A log of Django's statements")
struct DjangoLogTests {
    private static let lines = [
        #"(0.002) SELECT "shop_book"."id" FROM "shop_book" WHERE "shop_book"."id" = 7 LIMIT 21; args=(7,); alias=default"#,
        "(0.000) COMMIT; args=None; alias=default",
    ]
    private static let statements = [
        #"read 2 SELECT "shop_book"."id" FROM "shop_book" WHERE "shop_book"."id" = ? LIMIT 21"#, "transaction 0 COMMIT",
    ]

    @Test(
        "may have any formatter's prefix before its records",
        arguments: [
            "", "DEBUG 2026-11-24 20:19:17,123 utils 1234 140737353967424 ", "[24/Nov/2026 20:19:17] ",
            "DEBUG:django.db.backends:", "2026-11-24 20:19:17,123 - django.db.backends - DEBUG - ",
            "2026-11-24T20:19:17.123456Z DEBUG ", "20:19:17 ", "[2026-11-24 20:19:17 +0100] [1234] [DEBUG] ",
            "\u{1B}[36mDEBUG\u{1B}[0m ", "web-1  | ", "<worker (1)>",
        ])
    func prefixes(prefix: String) throws {
        let text = Self.lines.map { "\(prefix)\($0)\n" }.joined(separator: "\(prefix)GET / took (0.1) s\n")
        let log = try DjangoText("Performing system checks...\n\n\(text)")
        #expect(log.statements == Self.statements)
        #expect(log.reading.summary.unread == 0)
        #expect(try DjangoText(text.replacing("\n", with: "\r\n")).statements == Self.statements)
    }

    @Test("has times, processes and threads if the format includes them")
    func times() throws {
        let prefix = { (second: String, thread: String) in
            "DEBUG 2026-11-24 23:59:\(second) utils 12 14073735396\(thread) "
        }
        let log = try DjangoText(
            prefix("59,900", "7424") + "(0.100) SELECT 1; args=None; alias=default\n" + prefix("59,950", "8000")
                + "(0.020) SELECT 1; args=None; alias=default\nDEBUG 2026-11-25 00:00:01,000 utils 13 140737353967424 "
                + "(0.000) BEGIN; args=None; alias=default\n")
        let events = log.reading.events
        #expect(events.map(\.start) == [0, 130_000_000, 1_200_000_000])
        #expect(events.map(\.process) == [12, 12, 13] && Set(events.map(\.thread)).count == 2)
        #expect(log.reading.summary.processes == [12, 13] && log.reading.summary.unendedProcesses == [])
        #expect(log.began.allSatisfy { $0.source == .django && $0.system == "other_sql" })
    }

    @Test("may pass midnight even if the format has no date")
    func midnight() throws {
        let log = try DjangoText(
            ["23:59:59.500 ", "00:00:00.250 ", "00:00:01.250 "].map {
                $0 + DjangoText.record("BEGIN", seconds: "0.000")
            }
            .joined())
        #expect(log.reading.events.map(\.start) == [0, 750_000_000, 1_750_000_000])
    }

    @Test("yields its names before its events")
    func namesFirst() throws {
        let messages = try DjangoText(Self.lines.joined(separator: "\n")).reading.messages
        let order = messages.map { message in
            switch message {
            case .began: "began"
            case .entry: "entry"
            case .event: "event"
            case .lost, .ended: "end"
            }
        }
        #expect(order == ["began", "entry", "entry", "event", "event", "end"])
    }

    @Test("without times yields consecutive statements")
    func order() throws {
        let log = try DjangoText(DjangoText.record("SELECT 1", seconds: "0.003") + DjangoText.record("SELECT 1"))
        #expect(log.reading.events.map(\.start) == [0, 3_000_000])
    }

    @Test("reports missing rows, call sites and values, and imprecise start times")
    func gaps() throws {
        let kinds = { (prefix: String) in
            try DjangoText(prefix + Self.lines[0]).began.first?.gaps?.map(\.kind) ?? []
        }
        let exact = try kinds("2026-11-24 20:19:17,123 ")
        #expect(Set(exact).isSuperset(of: [.rows, .callSites, .values, .plans, .operations, .shortDurations]))
        #expect(!exact.contains(.startTimes) && !exact.contains(.statements))
        #expect(try kinds("[24/Nov/2026 20:19:17] ").contains(.startTimes))
        #expect(try kinds("").contains(.startTimes))
        let events = try DjangoText(Self.lines.joined(separator: "\n")).reading.events
        #expect(events.map(\.unrecorded) == [.rows, []])
    }

    @Test("may end its records with the arguments, as older versions do")
    func oldVersions() throws {
        let old = Self.lines.map { $0.replacing("; alias=default", with: "") }.joined(separator: "\n")
        #expect(try DjangoText(old).statements == Self.statements)
    }

    @Test("is not mistaken for a Core Data log, nor other text for a Django log")
    func recognition() throws {
        let coreData = try TraceFile("CoreData: sql: SELECT 0, t0.Z_PK FROM ZBOOK t0\n\(Self.lines[0])\n")
        #expect(try TraceReader(path: coreData.path).format == "sqlDebug")
        for text in [
            "GET /books/ 200 (0.001) OK\n", "(0.001) SELECT 1\n", "(0.001) Selected 1; args=(); alias=default\n",
            "(0.001) SELECT 'open; args=(); alias=default\n", "SELECT 1; args=(); alias=default\n",
            "[INFO] (0.01) SELECT 1; args=(); alias=default\n",
        ] {
            let file = try TraceFile(text)
            let error = #expect(throws: ReaderError.self) { try file.read() }
            #expect(error?.code == .notATrace || error?.code == .foreignJSON, "\(text)")
        }
        let plain = try TraceFile("GET /books/ 200 (0.001) OK\n")
        let error = #expect(throws: ReaderError.self) { try TraceReader(path: plain.path) }
        #expect(
            error?.message.contains(
                "it is not a timeline but plain text; name a file that \"faultline record\" wrote, or ")
                == true)
    }
}
