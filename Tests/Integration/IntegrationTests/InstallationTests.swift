import Foundation
import Testing

@Suite("An installation")
struct InstallationTests {
    private static let libraries = ["Columns", "Heap", "LTTng", "Preload"].map { "lib/faultline/libFaultline\($0).so" }

    @Test("has the command, its libraries, its manual and its completions, and records other programs")
    func installed() throws {
        // A space in the path must do no harm.
        let prefix = try TemporaryDirectory().url.appendingPathComponent("my programs")
        let result = try Self.make("install-built", prefix)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        #expect(
            result.output == """
                Installed faultline in \(prefix.path)/bin; "make uninstall" with the same PREFIX removes it.
                Add it to your PATH: export PATH=\(prefix.path)/bin:$PATH

                """)
        let files = try Self.files(in: prefix)
        let completions = [
            "share/bash-completion/completions/faultline", "share/fish/vendor_completions.d/faultline.fish",
            "share/zsh/site-functions/_faultline",
        ]
        #expect(files.isSuperset(of: ["bin/faultline", "lib/faultline/installed"] + Self.libraries + completions))
        #expect(files.subtracting(completions).filter { $0.hasPrefix("share") }.allSatisfy { $0.hasSuffix(".1") })
        let trace = prefix.appendingPathComponent("trace.json").path
        let recording = try BuiltCommand.run(
            [
                "record", "--columns", "-o", trace, "--", BuiltCommand.programs.path + "/SQLiteProgram", "books",
                ":memory:",
            ], program: prefix.path + "/bin/faultline")
        #expect(recording.status == 0)
        // How severe the loop is depends on how quickly it ran.
        #expect(recording.errors.contains("R27 "), "\(recording.errors)")
    }

    @Test("is removed without a trace, and leaves what others put there")
    func removed() throws {
        let prefix = try TemporaryDirectory().url
        let neighbour = prefix.appendingPathComponent("share/man/man1/other.1")
        try FileManager.default.createDirectory(
            at: neighbour.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: neighbour)
        #expect(try Self.make("install-built", prefix).status == 0)
        let result = try Self.make("uninstall", prefix)
        #expect(result.status == 0 && result.output == "Removed faultline from \(prefix.path).\n")
        let left = try FileManager.default.subpathsOfDirectory(atPath: prefix.path).sorted()
        #expect(left == ["share", "share/man", "share/man/man1", "share/man/man1/other.1"])
        let again = try Self.make("uninstall", prefix)
        #expect(
            again.errors.hasPrefix(
                "uninstall: Nothing is installed in \(prefix.path): \(prefix.path)/lib/faultline/installed does not exist.\n"
            ))
        #expect(again.status == 2)
    }

    @Test("replaces an earlier one, and removes a file that the new version lacks")
    func replaced() throws {
        let prefix = try TemporaryDirectory().url
        #expect(try Self.make("install-built", prefix).status == 0)
        let files = try Self.files(in: prefix)
        let old = prefix.appendingPathComponent("share/man/man1/faultline-old.1")
        try Data().write(to: old)
        let list = prefix.appendingPathComponent("lib/faultline/installed")
        // The checksum of an empty file.
        let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let entries = try String(contentsOf: list, encoding: .utf8)
        try (entries + "\(sum)  share/man/man1/faultline-old.1\n").write(to: list, atomically: true, encoding: .utf8)
        #expect(try Self.make("install-built", prefix).status == 0)
        #expect(try Self.files(in: prefix) == files)
        #expect(try String(contentsOf: list, encoding: .utf8) == entries)
    }

    @Test("replaces no file that it did not write or that was changed, and removes none")
    func foreignFiles() throws {
        let prefix = try TemporaryDirectory().url
        let command = prefix.appendingPathComponent("bin/faultline")
        try FileManager.default.createDirectory(
            at: command.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: command)
        let refused = try Self.make("install-built", prefix)
        #expect(
            refused.errors.hasPrefix(
                """
                install: \(command.path) exists, but no installation wrote it, or it was changed since.
                install: nothing was installed; FORCE=1 replaces these files.

                """))
        #expect(refused.status == 2)
        #expect(try Self.files(in: prefix) == ["bin/faultline"])
        #expect(try Self.make("install-built", prefix, ["FORCE=1"]).status == 0)
        #expect(try Data(contentsOf: command) != Data("mine".utf8))
        try Data("mine again".utf8).write(to: command)
        #expect(try Self.make("install-built", prefix).status == 2)
        let removed = try Self.make("uninstall", prefix)
        #expect(removed.errors == "uninstall: \(command.path) was changed after it was installed, and stays.\n")
        #expect(try Self.files(in: prefix) == ["bin/faultline"])
    }

    @Test("goes below DESTDIR for a package, and needs an absolute path and a built command")
    func places() throws {
        let root = try TemporaryDirectory().url
        let result = try Self.make("install-built", URL(fileURLWithPath: "/usr"), ["DESTDIR=\(root.path)"])
        #expect(result.output.hasPrefix("Installed faultline in \(root.path)/usr/bin;"))
        #expect(try Self.files(in: root).contains("usr/bin/faultline"))
        let relative = try Self.make("install-built", root, ["PREFIX=here"])
        #expect(relative.errors.hasPrefix("install: PREFIX is \"here\", but must be an absolute path.\n"))
        let unbuilt = try Self.make("install-built", root, ["BUILT=/nowhere"])
        #expect(
            unbuilt.errors.hasPrefix("install: /nowhere/faultline does not exist; \"make install\" builds it.\n"))
        #expect(relative.status == 2 && unbuilt.status == 2)
    }

    /// Runs a target of the Makefile on the built products, whichever make runs this test.
    private static func make(
        _ target: String, _ prefix: URL, _ variables: [String] = []
    ) throws -> BuiltCommand.Result {
        try BuiltCommand.run(
            ["--no-print-directory", target, "BUILT=\(BuiltCommand.products.path)", "PREFIX=\(prefix.path)"]
                + variables,
            program: "/usr/bin/make", environment: ["MAKEFLAGS": "", "MAKELEVEL": "", "MFLAGS": ""],
            directory: BuiltCommand.package)
    }

    private static func files(in directory: URL) throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { path in
                let attributes = try FileManager.default.attributesOfItem(
                    atPath: directory.appendingPathComponent(path).path)
                return attributes[.type] as? FileAttributeType == .typeRegular
            })
    }
}
