import ApplicationFlaws
import Foundation
import TruthKit

/// Measures whether results grow as reports project: the feed with ten and a hundred times the messages.
enum Growth {
    private struct Report: Decodable {
        struct Site: Decodable { var text: String }
        struct Projection: Decodable {
            var order: String
            var tenfold, hundredfold: Measurement.Range
        }
        struct Result: Decodable {
            var site: Site?
            var growth: Projection?
        }
        struct Group: Decodable {
            struct Durations: Decodable { var p50: Double }
            var kind: String
            var site: Site?
            var durations: Durations
        }
        var results: [Result]
        var groups: [Group]

        func median(at line: String) -> Double? {
            groups.first { $0.kind == "fetch" && $0.site?.text == line }?.durations.p50
        }
    }

    /// Multiplies the messages by ten, with new numbers.
    private static let multiply = """
        INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZISREAD, ZNUMBER, ZSIZE, ZTEXT, ZCHANNEL)
            SELECT Z_PK + n * most, Z_ENT, Z_OPT, ZISREAD, ZNUMBER + n * most, ZSIZE, ZTEXT, ZCHANNEL
            FROM ZMESSAGE, (SELECT max(Z_PK) AS most FROM ZMESSAGE),
                (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT n FROM c);
        UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZMESSAGE) WHERE Z_NAME = 'Message';
        """

    /// Prints each line's projected ranges beside the measured medians.
    static func printAll() throws {
        let folder = try ScratchFolder()
        let (program, faultline, store) = (Command.path("Feed"), Command.path("faultline"), folder.path("feed.sqlite"))
        try Command.run(program, [store, "repaired", "prepare", "60", "20"])
        let reports = try (0..<3).map { size in
            if size > 0 { try Command.run("/usr/bin/sqlite3", [store, multiply]) }
            let trace = folder.path("growth.json")
            try Command.run(
                faultline, ["record", "-o", trace, "--quiet", "--", program, store, "repaired", "growth"])
            return try JSONDecoder().decode(
                Report.self, from: try Command.run(faultline, ["report", trace, "--format", "json"]))
        }
        print("| line | order | rows | projected | measured | as projected |\n| --- | --- | --- | --- | --- | --- |")
        for result in reports[0].results {
            guard let line = result.site?.text, let growth = result.growth else { continue }
            for (factor, range, report) in [(10, growth.tenfold, reports[1]), (100, growth.hundredfold, reports[2])] {
                guard let measured = report.median(at: line) else { continue }
                let isRight = (range.low...max(range.low, range.high)).contains(measured)
                let projected = "\(milliseconds(range.low))–\(milliseconds(range.high))"
                print(
                    "| \(line) | \(growth.order) | × \(factor) | \(projected) | \(milliseconds(measured)) | \(isRight ? "yes" : "no") |"
                )
            }
        }
    }

    private static func milliseconds(_ nanoseconds: Double) -> String { String(format: "%.2f ms", nanoseconds / 1e6) }
}
