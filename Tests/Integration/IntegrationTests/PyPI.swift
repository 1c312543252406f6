import Foundation
import Testing

/// Packages of PyPI that `make test-commands` installs, with which tests examine what Faultline writes for other tools.
enum PyPI {
    static let folder = BuiltCommand.package.appendingPathComponent(".build/python-packages").path

    /// Whether the modules can be loaded.
    static func has(_ modules: String...) -> Bool {
        (try? run(modules.map { "import \($0)\n" }.joined(), []).status) == 0
    }

    /// The reason for skipping a test.
    static func need(_ packages: String) -> Comment {
        "needs PyPI's \(packages): make test-commands, or python3 -m pip install --target .build/python-packages"
    }

    /// Runs a script that can load the packages.
    static func run(_ script: String, _ arguments: [String]) throws -> BuiltCommand.Result {
        try BuiltCommand.run(
            ["-c", script] + arguments, program: PythonPackages.python, environment: ["PYTHONPATH": folder])
    }

    /// Runs a script that prints nothing if it finds no problem.
    static func expectNothing(
        from script: String, _ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(script, arguments)
        #expect(
            result.status == 0 && result.output.isEmpty, "\(result.output)\(result.errors)",
            sourceLocation: sourceLocation)
    }
}
