import Foundation
import Testing

/// Code generated from the schema is checked in, so it can be read and needs no step before a build.
@Suite("Code generated from the schema")
struct SchemaFilesTests {
    private static let generator = BuiltCommand.products.appendingPathComponent("SchemaGenerator").path

    @Test("is up to date with \"make schema\"")
    func current() throws {
        let sources = BuiltCommand.package.appendingPathComponent("Sources/Trace/FaultlineTrace")
        let result = try BuiltCommand.run(["--check", sources.path], program: Self.generator)
        #expect(result.status == 0 && result.output.isEmpty, "run \"make schema\": \(result.output)")
    }

    @Test("is written, found to be changed, and written again")
    func written() throws {
        let directory = try TemporaryDirectory()
        #expect(try BuiltCommand.run([directory.url.path], program: Self.generator).status == 0)
        let kinds = directory.path("Events/EventKind.swift")
        let text = try String(contentsOfFile: kinds, encoding: .utf8)
        try text.replacing("fetch", with: "fetched").write(toFile: kinds, atomically: true, encoding: .utf8)
        let check = try BuiltCommand.run(["--check", directory.url.path], program: Self.generator)
        #expect(check.status == 1 && check.output == "Events/EventKind.swift\n")
        #expect(
            try BuiltCommand.run([directory.url.path], program: Self.generator).output == "Events/EventKind.swift\n")
        #expect(try String(contentsOfFile: kinds, encoding: .utf8) == text)
    }

    @Test("is not written without a directory")
    func usage() throws {
        let result = try BuiltCommand.run(["--check"], program: Self.generator)
        #expect(result.status == 64 && result.errors == "usage: SchemaGenerator [--check] DIRECTORY\n")
    }
}
