import Foundation
import TestFolders
import Testing

/// A C program that a test builds.
enum CProgram {
    static let canBuild = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    /// The identifier that every build of SQLite contains.
    static let sourcesOfSQLite = "2024-01-15 17:01:13 " + String(repeating: "0123456789abcdef", count: 4)

    /// Builds a program, and returns its path.
    static func build(_ source: String, _ arguments: [String], in directory: TemporaryDirectory) throws -> String {
        let (file, program) = (directory.path("program.c"), directory.path("program"))
        try source.write(toFile: file, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["-o", program, file] + arguments, program: "/usr/bin/cc")
        try #require(result.status == 0, "\(result.errors)")
        return program
    }
}
