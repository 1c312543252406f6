import Foundation

/// A program with what it is asked to do, and the store that it needs.
struct Program {
    var name: String
    /// The executable and its arguments; `STORE` stands for the store's place.
    var command: [String]
    /// Makes the store.
    var preparation: [String]
    /// Makes a store with which one operation does 1.3 times the work; `nil`: there is none.
    var changed: [String]?

    /// Whether its operations take turns all the time; otherwise each runs for a few milliseconds, at the speed that the
    /// machine has at that moment.
    var takesTurns: Bool { changed != nil }

    /// Small and large ones, with 3 to 40 operations of few events and of many.
    static let all: [Program] = [
        documents("documents of 10 KB, 60 times", rows: 20, length: 10_000, times: 60),
        documents("documents of 10 KB, 20 times", rows: 200, length: 10_000, times: 20),
        documents("documents of 4 KB, 200 times", rows: 40, length: 4000, times: 200),
        Program(
            name: "feed, growth", command: ["Feed", "STORE", "flawed", "growth"],
            preparation: ["Feed", "STORE", "flawed", "prepare", "60", "40"]),
        Program(
            name: "feed, 40 channels",
            command: ["Feed", "STORE", "flawed", "counts", "sums", "results", "newest", "pages"],
            preparation: ["Feed", "STORE", "flawed", "prepare", "40", "30"]),
        Program(
            name: "feed, 160 channels",
            command: [
                "Feed", "STORE", "flawed", "counts", "results", "existing", "objects", "newest", "import",
            ],
            preparation: ["Feed", "STORE", "flawed", "prepare", "160", "20"]),
        Program(
            name: "music, flawed",
            command: [
                "MusicProgram", "STORE", "naive", "count", "existence", "sum", "preview", "limit", "loop", "repeat",
                "members", "prefetch", "searches",
            ], preparation: ["MusicProgram", "STORE", "prepare"]),
        Program(
            name: "music, with threads",
            command: ["MusicProgram", "STORE", "naive", "create", "wait", "save", "again"],
            preparation: ["MusicProgram", "STORE", "prepare"]),
        Program(
            name: "music, improved",
            command: [
                "MusicProgram", "STORE", "improved", "count", "existence", "sum", "preview", "limit", "loop", "repeat",
                "members", "prefetch", "searches",
            ], preparation: ["MusicProgram", "STORE", "prepare"]),
        Program(
            name: "chat, flawed",
            command: [
                "Chat", "STORE", "flawed", "readTrains", "authors", "rooms", "sized", "order", "partial", "prefetch",
                "profiles",
            ], preparation: ["Chat", "STORE", "flawed", "prepare"]),
        groceries("list of 200", ["--items", "200", "--flaws", "all"]),
        groceries("list of 1,000", ["--items", "1000", "--rows", "20"]),
    ]

    private static func documents(_ name: String, rows: Int, length: Int, times: Int) -> Program {
        let preparation = ["DiffTruth", "work", "STORE", "prepare", "\(rows)", "\(length)"]
        return Program(
            name: name, command: ["DiffTruth", "work", "STORE", "run", "\(times)"], preparation: preparation,
            changed: preparation + ["1300"])
    }

    private static func groceries(_ name: String, _ options: [String]) -> Program {
        let command = ["faultline", "workload", "groceries", "--store", "STORE"] + options
        return Program(name: name, command: command, preparation: command + ["--prepare"])
    }
}
