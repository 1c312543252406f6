import Foundation

/// The JSON report as its readers see it.
struct ReportDocument: Decodable {
    struct Site: Decodable, Hashable {
        var file: String
        var line: Int
        var text: String
    }

    struct Finding: Decodable {
        struct Sighting: Decodable {
            var site: Site?
            var count: UInt64
            var time: UInt64
        }
        struct Evidence: Decodable {
            var name: String
            var value: Double
        }
        struct Saving: Decodable {
            var trips: Int
            var bytes: Int
        }

        var rule: String
        var severity: String
        var title: String
        var change: Site?
        var code: [String]
        var alternatives: [String]
        var seenAt: [Sighting]
        var evidence: [Evidence]
        var saving: Saving

        /// Returns a figure of the evidence by its name.
        func figure(_ name: String) -> Double? { evidence.first { $0.name == name }?.value }
    }

    struct Process: Decodable {
        var wallTime: UInt64
        var writing: UInt64
        var lost: UInt64
    }

    struct Durations: Decodable, Hashable {
        var count: UInt64
        var total: UInt64
        var p50: UInt64
        var p90: UInt64
        var p99: UInt64
        var max: UInt64
    }

    struct Group: Decodable {
        var kind: String
        var subject: String
        var site: Site?
        var fetchSite: Site?
        var faultType: String?
        var source: String?
        var statementType: String?
        var durations: Durations
        var selfTime: UInt64
        var mainThreadTime: UInt64
        var counts: [String: UInt64]
    }

    /// Work that no finding explains.
    struct Work: Decodable {
        var explanation: [String]
        var group: Group
    }

    /// The results of the fetches of one line.
    struct Result: Decodable {
        var site: Site?
        var growth: Growth?
    }

    /// The cost of a fetch, and its projected cost with more rows.
    struct Growth: Decodable {
        struct Range: Decodable {
            var median: Double
            var low: Double
            var high: Double
        }

        var order: String
        var now: Range
        var tenfold: Range
        var hundredfold: Range
    }

    struct Sum: Decodable {
        var name: String
        var kind: String
        var durations: Durations
        var counts: [String: UInt64]
    }

    struct Scope: Decodable {
        var name: String
        var kind: String
        var count: UInt64
        var storeTime: UInt64
        var trips: UInt64
        var wallTime: Durations
    }

    struct Totals: Decodable {
        var events: [String: UInt64]
        var eventCount: UInt64
        var storeTime: UInt64
        var mainThreadStoreTime: UInt64
        var readTrips: UInt64
        var reads: UInt64
        var outermostReads: UInt64
        var writes: UInt64
        var transactions: UInt64
        var schemaStatements: UInt64
        var claimedTrips: UInt64
        var rowsLoaded: UInt64
        var bytesRead: UInt64
        var bytesWritten: UInt64
        var overhead: UInt64
        var faultTrips: UInt64
        var eventsOutsideScopes: UInt64
    }

    struct Costs: Decodable {
        var basis: String
    }

    var wallTime: UInt64
    var lost: UInt64
    var costs: Costs
    var totals: Totals
    var processes: [Process]
    var findings: [Finding]
    var unexplained: [Work]
    var groups: [Group]
    var results: [Result]
    var byEntity: [Sum]
    var byRelationship: [Sum]
    var byStatement: [Sum]
    var scopes: [Scope]

    /// Runs the built command to get the report of a trace.
    ///
    /// - Parameter thresholds: A file of thresholds, or `nil` for those in force.
    init(of trace: String, thresholds: String? = nil) throws {
        let reported = try BuiltCommand.run(
            ["report", trace, "--format", "json"] + (thresholds.map { ["--thresholds", $0] } ?? []))
        guard reported.status == 0 else { throw CommandFailed(text: reported.errors) }
        self = try JSONDecoder().decode(Self.self, from: Data(reported.output.utf8))
    }
}

/// A command that a test needs has failed.
struct CommandFailed: Error, CustomStringConvertible {
    var text: String
    var description: String { text }
}

/// Lines of source files.
enum SourceLine {
    /// Returns the number of the first line that contains a text.
    static func find(_ text: String, in file: URL) throws -> Int {
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard let index = lines.firstIndex(where: { $0.contains(text) }) else {
            throw CommandFailed(text: "no \"\(text)\" in \(file.path)")
        }
        return index + 1
    }
}
