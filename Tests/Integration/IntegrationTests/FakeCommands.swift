import Foundation
import Testing

/// Commands of a test's own, which precede the system's in PATH.
struct FakeCommands {
    private let directory: TemporaryDirectory
    /// The folder of the commands.
    let folder: String

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        folder = directory.path("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Installs a command that runs a shell script.
    func install(_ name: String, _ script: String) throws {
        let path = folder + "/" + name
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o755)
    }

    /// Returns the doctor's report with these commands in PATH.
    func report(sourceLocation: SourceLocation = #_sourceLocation) throws -> DoctorReport {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try DoctorReport(
            environment: ["PATH": folder + ":" + path], directory: directory.url, sourceLocation: sourceLocation)
    }
}

/// Libraries built from a few lines of C.
enum CLibrary {
    /// Builds a library with a name, and returns its path.
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
