import FaultlineModel
import FaultlineStore
import Foundation

// Feeds the parsers of untrusted text with what mutations make of sound texts. It ends with an error when one of them
// takes a text that it does not read again as it wrote it; a crash or a hang ends it by itself.
//
//     FuzzProgram predicates SEED COUNT
//     FuzzProgram models SEED COUNT FOLDER

let arguments = CommandLine.arguments
guard arguments.count >= 4, let seed = UInt64(arguments[2]), let count = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("usage: FuzzProgram predicates|models SEED COUNT [FOLDER]\n".utf8))
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
                Thread.sleep(forTimeInterval: 10)
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
    guard arguments.count > 4 else { exit(64) }
    let folder = URL(fileURLWithPath: arguments[4])
    let files =
        FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL } ?? []
    let corpus = files.filter { $0.lastPathComponent == "contents" }.compactMap { try? Data(contentsOf: $0) }
        .filter { $0.count < 20_000 }.map { Array($0) }
    guard !corpus.isEmpty else { fail([], "no models in \(folder.path)") }
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(
        "fuzz-\(ProcessInfo.processInfo.processIdentifier).xcdatamodel")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    for _ in 0..<count {
        let input = mutation.mutate(corpus)
        watch.begin(input)
        try Data(input).write(to: scratch.appendingPathComponent("contents"))
        guard let model = try? ManagedObjectModel(contentsOf: scratch) else { continue }
        accepted += 1
        _ = model.entities.count
    }
default: exit(64)
}
print("\(count) executions, \(accepted) accepted")
