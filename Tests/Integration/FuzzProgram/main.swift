import FaultlineDocuments
import FaultlineModel
import FaultlineProfile
import FaultlineReader
import FaultlineReport
import FaultlineRules
import FaultlineStore
import Foundation

// Feeds the parsers of untrusted text with what mutations make of sound texts. It ends with an error when one of them
// takes a text that it does not read again as it wrote it; a crash or a hang ends it by itself.
//
//     FuzzProgram predicates SEED COUNT
//     FuzzProgram models SEED COUNT FOLDER
//     FuzzProgram timelines SEED COUNT FOLDER   (of .json)
//     FuzzProgram logs SEED COUNT FOLDER        (of .log: what SQLDebug prints)
//     FuzzProgram exports SEED COUNT FOLDER     (of .xml: what xctrace exports)
//     FuzzProgram profiles SEED COUNT FOLDER
//     FuzzProgram ctf SEED COUNT FOLDER         (a CTF trace: its streams, metadata and indexes)

let arguments = CommandLine.arguments
guard arguments.count >= 4, let seed = UInt64(arguments[2]), let count = Int(arguments[3]) else {
    let usage = "usage: FuzzProgram predicates|models|timelines|logs|exports|profiles|ctf SEED COUNT [FOLDER]\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
}

/// A watch over one execution at a time: a hang ends the program with what hung.
final class Watch: @unchecked Sendable {
    // Written by the one thread that executes; the other only reads whether it changed.
    private var executions = 0
    private var input: [UInt8] = []

    init() {
        let thread = Thread { [self] in
            var last = -1
            while true {
                // At low priority beside other work, one execution can take ten seconds.
                Thread.sleep(forTimeInterval: 60)
                guard executions != last else {
                    FileHandle.standardError.write(Data("hangs on: \(Data(input).base64EncodedString())\n".utf8))
                    abort()
                }
                last = executions
            }
        }
        thread.start()
    }

    func begin(_ input: [UInt8]) {
        self.input = input
        executions += 1
    }
}

func fail(_ input: [UInt8], _ why: String) -> Never {
    let text = String(decoding: input, as: UTF8.self).debugDescription
    FileHandle.standardError.write(Data("\(why): \(text)\n".utf8))
    exit(1)
}

/// The files of the folder that was named, but for long ones.
func corpus(upTo limit: Int, _ isMeant: (URL) -> Bool) -> [[UInt8]] {
    guard arguments.count > 4 else { exit(64) }
    let folder = URL(fileURLWithPath: arguments[4])
    let files =
        FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    let corpus = files.filter(isMeant).sorted { $0.path < $1.path }.compactMap { try? Data(contentsOf: $0) }
        .filter { $0.count < limit }.map { Array($0) }
    guard !corpus.isEmpty else { fail([], "nothing to begin with in \(folder.path)") }
    return corpus
}

/// A report of all kinds, made and thrown away.
func report(_ profile: Profile) throws {
    let analysis = Analysis(profile)
    let size = TextReport(analysis).render().utf8.count + ReportJSON(analysis).render().utf8.count
    if try profile.fileData().isEmpty || size == 0 { exit(1) }
}

/// Some lines of a timeline in their order, so that each execution is short: its head, and some of what follows.
func excerpt(_ lines: [ArraySlice<UInt8>], _ mutation: inout Mutation) -> [UInt8] {
    let places = (0..<mutation.number(24)).map { _ in mutation.number(lines.count) }.sorted()
    return Array((lines.prefix(2) + places.map { lines[$0] }).joined(separator: [UInt8(ascii: "\n")]))
}

let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
    "fuzz-\(ProcessInfo.processInfo.processIdentifier)")
defer { try? FileManager.default.removeItem(at: scratch) }
var mutation = Mutation(seed: seed)
let watch = Watch()
var accepted = 0
switch arguments[1] {
case "predicates":
    for _ in 0..<count {
        let input = mutation.mutate(Mutation.formats)
        watch.begin(input)
        let format = String(decoding: input, as: UTF8.self)
        let values: [(any FetchPredicateArgument)?] = Array(["x", 3, nil, 2.5].prefix(mutation.number(5)))
        guard let predicate = try? FetchPredicate(format: format, argumentArray: values) else { continue }
        accepted += 1
        let text = predicate.description
        guard let again = try? FetchPredicate(format: text) else { fail(input, "writes what it cannot read: \(text)") }
        guard again.description == text else { fail(input, "reads '\(text)' as '\(again.description)'") }
    }
case "models":
    let models = corpus(upTo: 20_000) { $0.lastPathComponent == "contents" }
    let package = scratch.appendingPathExtension("xcdatamodel")
    try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: package) }
    for _ in 0..<count {
        let input = mutation.mutate(models)
        watch.begin(input)
        try Data(input).write(to: package.appendingPathComponent("contents"))
        guard let model = try? ManagedObjectModel(contentsOf: package) else { continue }
        accepted += 1
        _ = model.entities.count
    }
case "timelines", "logs", "exports":
    let name = ["timelines": "json", "logs": "log", "exports": "xml"][arguments[1]]
    let traces = corpus(upTo: 2_000_000) { $0.pathExtension == name }.map { $0.split(separator: UInt8(ascii: "\n")) }
    for execution in 0..<count {
        let input = mutation.mutate([excerpt(traces[mutation.number(traces.count)], &mutation)])
        watch.begin(input)
        try Data(input).write(to: scratch)
        var builder = ProfileBuilder()
        do {
            let summary = try TraceReader(path: scratch.path).read { builder.add($0) }
            accepted += summary.malformedLines == 0 ? 1 : 0
        } catch is ReaderError {
            continue
        }
        // A report takes longer than a hundred readings.
        if execution % 64 == 0 { try report(builder.finish()) }
    }
case "profiles":
    let profiles = corpus(upTo: 40_000) { $0.pathExtension == "profile" }
    for _ in 0..<count {
        let input = mutation.mutate(profiles)
        watch.begin(input)
        guard let profile = try? Profile(fileData: Data(input)) else { continue }
        accepted += 1
        try report(profile)
    }
case "ctf":
    let trace = try DamagedTrace(of: URL(fileURLWithPath: arguments.count > 4 ? arguments[4] : ""), in: scratch)
    var ended = 0
    for _ in 0..<count {
        let input = try trace.damage(&mutation)
        watch.begin(input)
        do {
            try TraceReader(path: trace.path).read { _ in }
            accepted += 1
        } catch let error as ReaderError {
            if error.message.contains("libbabeltrace2 failed while reading it") { ended += 1 }
        }
        try trace.restore()
    }
    print("\(ended) times libbabeltrace2 ended its process and nothing could be read")
default: exit(64)
}
print("\(count) executions, \(accepted) accepted")
