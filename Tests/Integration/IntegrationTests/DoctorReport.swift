import Foundation
import Testing

/// The output of `faultline doctor --format json`.
struct DoctorReport: Decodable {
    struct Machine: Decodable {
        var system: String
        var kernel: String
        var architecture: String
        var processors: Int
    }
    struct Group: Decodable {
        var name: String
        var checks: [Check]
    }
    struct Check: Decodable, Equatable {
        var name: String
        var state: String
        var isEssential: Bool
        var found: String
        var why: String
        var remedy: String
        var command: String?
    }
    struct Installation: Decodable {
        var packages: [String]
        var command: String?
    }

    var version: Int
    var isReady: Bool
    var machine: Machine
    var groups: [Group]
    var installation: Installation

    /// Decodes the output of a command, or of a script that runs it.
    init(_ result: BuiltCommand.Result, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(result.errors.isEmpty && !result.wasKilled, sourceLocation: sourceLocation)
        self = try JSONDecoder().decode(DoctorReport.self, from: Data(result.output.utf8))
        #expect(result.status == (isReady ? 0 : 1), sourceLocation: sourceLocation)
    }

    /// The shell command that prints JSON.
    static let command = "'\(BuiltCommand.faultline)' doctor --format json"

    /// Runs the command.
    init(
        _ arguments: [String] = [], environment: [String: String] = [:], directory: URL? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.init(
            BuiltCommand.run(
                ["doctor", "--format", "json"] + arguments, environment: environment, directory: directory),
            sourceLocation: sourceLocation)
    }

    /// Runs the command in a script after mounting file systems of its own.
    init(
        script: String = command, after mounts: [String], ownProcesses: Bool = false,
        environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.init(
            PrivateMounts.run(script, after: mounts, ownProcesses: ownProcesses, environment: environment),
            sourceLocation: sourceLocation)
    }

    /// Returns the check with a name, of which a second one belongs to another group.
    func check(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Check {
        try #require(groups.flatMap(\.checks).first { $0.name == name }, sourceLocation: sourceLocation)
    }

    /// The names of the checks that are not ok.
    var complaints: [String] { groups.flatMap(\.checks).filter { $0.state != "ok" }.map(\.name) }
}
