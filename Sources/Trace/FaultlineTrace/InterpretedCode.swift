/// Distinguishes a process's own functions in Python, Ruby or PHP from those of its libraries.
///
/// Installed packages are libraries. So is the script that pip writes for an installed command, which only calls the command's
/// package. In a process that runs nothing else, that package is the program.
struct InterpretedCode: Sendable {
    private typealias Location = FrameEntry.Location

    /// Scripts that an installer wrote.
    private let scripts: Set<String>
    /// The packages of the installed command, if the process has no other code.
    private let packages: Set<String>

    /// - Complexity: O(frames of all stacks) if the process ran such functions.
    init(_ dictionary: TraceDictionary) {
        let stacks =
            dictionary.hasInterpretedFunctions ? dictionary.stacks.map { Self.functions(of: $0, in: dictionary) } : []
        scripts = Self.scripts(stacks)
        packages = Self.packages(stacks, scripts)
    }

    /// The process's own functions on a stack, innermost first, or the innermost one if all are libraries'.
    func functions(of stack: StackEntry?, in dictionary: TraceDictionary) -> [FrameEntry.Location] {
        let functions = stack.map { Self.functions(of: $0, in: dictionary) } ?? []
        let own = functions.filter { isOwn($0) && !$0.isInAddedLibrary }
        return own.isEmpty ? Array(functions.prefix(1)) : own
    }

    /// Whether a function is the program's own.
    func isOwn(_ location: FrameEntry.Location) -> Bool {
        if let package = location.package { return packages.contains(package) }
        return !location.isInInterpretedLibrary && !scripts.contains(location.file)
    }

    private static func scripts(_ stacks: [[Location]]) -> Set<String> {
        // The lines of what could be such a script, and the packages that it calls.
        var calls: [String: (lines: Set<Int>, packages: Set<String?>)] = [:]
        for stack in stacks {
            for (position, location) in stack.enumerated() where location.canBeOfInstaller {
                let callee = stack[..<position].last { !$0.isInStandardLibrary }
                var found = calls[location.file] ?? ([], [])
                found.lines.insert(location.line)
                found.packages.insert(callee?.package)
                calls[location.file] = found
            }
        }
        // An installer's script imports a package and calls it. What somebody wrote has more lines, or functions, or calls a
        // library of databases.
        let written = calls.filter { _, calls in
            calls.lines.count <= 2 && calls.packages.allSatisfy { $0.map { !ofDatabases.contains($0) } ?? false }
        }
        return Set(written.keys)
    }

    private static func packages(_ stacks: [[Location]], _ scripts: Set<String>) -> Set<String> {
        let entries = stacks.joined().filter {
            scripts.contains($0.file) || ($0.package != nil && $0.file.hasSuffix("/__main__.py"))
        }
        let isInstalled = stacks.joined().allSatisfy { $0.isInInterpretedLibrary || scripts.contains($0.file) }
        guard isInstalled, !entries.isEmpty else { return [] }
        let names = Set(entries.map { ($0.package ?? $0.fileName).replacing("-", with: "_").lowercased() })
        // The package with the command's name, or else the innermost one that is not a library of databases.
        return Set(
            stacks.compactMap { stack in
                let packages = stack.compactMap(\.package)
                return packages.first { names.contains($0.lowercased()) }
                    ?? packages.first { !ofDatabases.contains($0) }
            })
    }

    private static func functions(of stack: StackEntry, in dictionary: TraceDictionary) -> [Location] {
        stack.addresses.compactMap { dictionary.frame(at: $0) }.filter(\.isInterpreted).flatMap(\.locations)
    }

    /// Packages that run statements for whoever calls them.
    private static let ofDatabases: Set<String> = [
        "aiosqlite", "apsw", "databases", "dataset", "django", "flask_sqlalchemy", "ormar", "pandas", "peewee",
        "piccolo", "playhouse", "pony", "pysqlite3", "records", "sqlalchemy", "sqlmodel", "tortoise",
    ]
}

extension FrameEntry.Location {
    /// Whether an installer can have written the file: `bin/sqlite-utils`, whose only line calls a package.
    fileprivate var canBeOfInstaller: Bool {
        let parts = file.split(separator: "/")
        return function == "<module>" && !isInInterpretedLibrary && parts.count > 1 && !fileName.contains(".")
            && ["bin", "Scripts"].contains(parts[parts.count - 2])
    }

    fileprivate var fileName: String { file.split(separator: "/").last.map(String.init) ?? "" }
}
