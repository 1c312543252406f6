import Foundation

// Writes what follows from the schema's declarations: SchemaGenerator DIRECTORY. With --check nothing is written, and
// files that differ are named.

let arguments = CommandLine.arguments.dropFirst()
let isCheck = arguments.first == "--check"
guard let directory = arguments.last, directory != "--check", arguments.count == (isCheck ? 2 : 1) else {
    FileHandle.standardError.write(Data("usage: SchemaGenerator [--check] DIRECTORY\n".utf8))
    exit(64)
}

let schema = Schema()
let types = SwiftText(schema: schema).files().map { (name: "Events/\($0.name)", text: $0.text) }
let reference = (name: "FaultlineTrace.docc/EventReference.md", text: ReferenceText(schema: schema).text())
let place = URL(fileURLWithPath: directory)
var stale: [String] = []

for (name, text) in types + [reference] {
    let file = place.appendingPathComponent(name)
    guard (try? String(contentsOf: file, encoding: .utf8)) != text else { continue }
    stale.append(name)
    guard !isCheck else { continue }
    try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
}

// A kind that is gone leaves its file behind.
let present = try? FileManager.default.contentsOfDirectory(atPath: place.appendingPathComponent("Events").path)
for name in (present ?? []).map({ "Events/\($0)" }).sorted() where !types.contains(where: { $0.name == name }) {
    stale.append(name)
    guard !isCheck else { continue }
    let file = place.appendingPathComponent(name)
    let text = try String(contentsOf: file, encoding: .utf8)
    if text.hasPrefix(SwiftText.heading) { try FileManager.default.removeItem(at: file) }
}

for name in stale { print(name) }
exit(isCheck && !stale.isEmpty ? 1 : 0)
