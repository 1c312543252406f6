import Foundation
import Testing

/// Commands of a test's own, which are found before those of the system.
struct FakeCommands {
    private let directory: TemporaryDirectory
    /// Where they are.
    let folder: String

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        folder = directory.path("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Makes a command of a script for the shell.
    func install(_ name: String, _ script: String) throws {
        let path = folder + "/" + name
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
    }

    /// What the doctor says where they are.
    func report(sourceLocation: SourceLocation = #_sourceLocation) throws -> DoctorReport {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try DoctorReport(
            environment: ["PATH": folder + ":" + path], directory: directory.url, sourceLocation: sourceLocation)
    }
}

/// Libraries that are built from a few lines of C.
enum CLibrary {
    /// Builds one under a name, and returns its path.
    static func build(
        _ name: String, in directory: TemporaryDirectory, _ source: String, options: [String] = []
    ) throws -> String {
        let (library, text) = (directory.path(name), directory.path(name + ".c"))
        try source.write(toFile: text, atomically: true, encoding: .utf8)
        let built = try BuiltCommand.run(
            ["clang", "-shared", "-fPIC", "-Wl,-soname,\(name)", "-o", library, text] + options,
            program: "/usr/bin/env")
        try #require(built.status == 0, "\(built.errors)")
        return library
    }
}
