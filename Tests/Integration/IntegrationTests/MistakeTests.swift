import Foundation
import Testing

@Suite("A mistake in a program")
struct MistakeTests {
    private static let program = BuiltCommand.programs.appendingPathComponent("StoreProgram").path

    @Test(
        "ends it with a sentence that names the mistake",
        arguments: [
            (0, "Entity 'Part' has no property 'titel'."), (1, "Entity 'Part' has no property 'titel'."),
            (2, "'Part.amount' of type Integer 32 cannot be set to"), (3, "'Part.box'"), (4, "'Box.parts'"),
            (5, "Index 1000 is out of range; the fetch found 0 objects."), (6, "'Part.name'"),
            (7, "endUndoGrouping was called with no group open; call beginUndoGrouping first."),
        ])
    func sentence(number: Int, sentence: String) throws {
        let store = try TemporaryDirectory().path("store.sqlite")
        let result = try BuiltCommand.run(
            [store, "mistake", "\(number)"], program: Self.program, environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.wasKilled)
        let line = try #require(result.errors.split(separator: "\n").first { $0.contains("Fatal error: ") })
        #expect(line.contains(sentence), "\(line)")
    }

    /// A release build, unlike the tests, drops the message of the standard library's preconditions.
    @Test(
        "is reported by functions that keep their message in a release build",
        arguments: [
            "FaultlineStore", "FaultlineModel", "FaultlineEntities", "FaultlineRecorder", "FaultlineTrace",
            "FaultlineTesting", "FaultlineBenchmark", "FaultlineCounting",
        ])
    func noPreconditions(module: String) throws {
        let folder = BuiltCommand.package.appendingPathComponent("Sources/\(module)")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let found = text.matches(of: /\b(precondition|preconditionFailure|assert|assertionFailure)\([^;{}]*?"/)
            #expect(found.isEmpty, "\(file.lastPathComponent): \(found.map { $0.output.0 })")
        }
    }
}
