import Foundation

/// Checks what a recording of a command will show: the program's copies of SQLite, its stacks and its lines.
struct ProgramChecks: Examination {
    /// The command's first word.
    let command: String

    private static let program = Subject(
        name: "program", why: "The library that records its SQLite calls is preloaded into it.", isEssential: true)
    private static let library = Subject(
        name: "preloading", why: "Programs without a Faultline store are recorded by this library.", isEssential: true)
    private static let sqlite = Subject(name: "SQLite", why: "Only calls of a shared library can be seen.")
    /// A copy of SQLite whose calls cannot be seen.
    private static let hidden = Subject(name: sqlite.name, why: sqlite.why, isEssential: true)
    private static let python = Subject(name: "Python", why: "Statements are shown at the lines of Python functions.")
    private static let stacks = Subject(
        name: "frame pointers", why: "Stacks are read through them, to find the line that ran a statement.")
    private static let lines = Subject(name: "lines", why: "Stacks are shown as functions and lines.")

    var silence: Check {
        Self.program.failed(Doctor.silence, "Check the file system of \"\(command)\".")
    }

    func checks() -> [Check] {
        guard let file = ProgramFile(command: command) else {
            return [
                Self.program.missing(
                    "no program \"\(command)\" in PATH", "Check the name, or give the program's path.")
            ]
        }
        let program = Self.check(file)
        guard program.state == .ok else { return [program] }
        // A version manager's "python3" is a script that runs the interpreter.
        if let name = file.commands.first(where: PythonInterpreter.isNamed), let python = PythonInterpreter(name) {
            let found = ProgramFile(path: python.executable) ?? file
            return [Self.check(found), Self.preloading, Self.copies(of: python, found), Self.functions(of: python)]
        }
        return [program, Self.preloading, Self.copies(file), Self.framePointers(file), Self.lineNumbers(file)]
    }

    // MARK: - The program

    private static func check(_ file: ProgramFile) -> Check {
        if file.segments.isEmpty {
            return program.failed("\(file.path) is not a 64-bit ELF file", "Name a program that Linux runs.")
        }
        if file.isStatic {
            return program.failed(
                "\(file.path) is linked statically", "Link it dynamically, or use FaultlineStore.")
        }
        if file.isPrivileged {
            return program.failed("\(file.path) runs with another user's rights", "Run it as that user.")
        }
        return program.ok(file.path)
    }

    private static var preloading: Check {
        guard let path = PreloadedLibrary.recorder.path else {
            return library.missing(
                "\(PreloadedLibrary.recorder.name) is not beside the command", "Build it with \"make build\".")
        }
        return library.ok(path)
    }

    // MARK: - SQLite

    private static func copies(_ file: ProgramFile) -> Check {
        if let hidden = hiddenCopy(in: [file]) { return hidden }
        let libraries = file.libraries
        // Searching a file for a copy takes longest.
        if let library = libraries.first(where: { $0.exportsSQLite && $0.ownSQLite != nil }) {
            return sqlite.ok(library.path)
        }
        if file.ownSQLite != nil { return sqlite.ok("a copy of its own, which exports its functions") }
        return hiddenCopy(in: libraries)
            ?? sqlite.missing("none in the program or its libraries; a module can load one while it runs")
    }

    /// The first copy of SQLite in some files that exports nothing, as a check; `nil` if there is none.
    private static func hiddenCopy(in files: [ProgramFile]) -> Check? {
        for file in files {
            guard let date = file.hiddenSQLite else { continue }
            return hidden.failed(
                "\(file.path) contains its own copy (of \(date)), which exports nothing",
                "Use a build that is linked to libsqlite3.")
        }
        return nil
    }

    // MARK: - Python

    private static func copies(of interpreter: PythonInterpreter, _ file: ProgramFile) -> Check {
        if interpreter.sqlite.isEmpty {
            return sqlite.missing("the interpreter has no module sqlite3; a package can bring one")
        }
        let module = interpreter.module.flatMap { ProgramFile(path: $0) }
        // Without a module of its own, the interpreter itself or its library contains SQLite's functions.
        let files = [module, file].compactMap { $0 } + file.libraries
        if interpreter.canLoadExtensions, let hidden = files.first(where: { $0.hiddenSQLite != nil }) {
            return sqlite.ok("\(interpreter.sqlite), built into \(hidden.path) and recorded by its trace hook")
        }
        return hiddenCopy(in: files)
            ?? sqlite.ok("\(interpreter.sqlite), \(interpreter.module ?? "linked to the interpreter")")
    }

    private static func functions(of interpreter: PythonInterpreter) -> Check {
        let (major, minor) = interpreter.version
        guard major == 3, PythonInterpreter.known.contains(minor) else {
            return python.warning(
                "\(major).\(minor), whose stacks are not known",
                "Use Python 3.\(PythonInterpreter.known.lowerBound)–3.\(PythonInterpreter.known.upperBound); with others, "
                    + "statements are recorded without their lines.")
        }
        guard interpreter.isOrdinary else {
            return python.warning(
                "\(major).\(minor), a build for debugging or without the global interpreter lock",
                "Use an ordinary build; with this one, statements are recorded without their lines.")
        }
        return python.ok("\(major).\(minor): functions and lines")
    }

    // MARK: - Stacks

    private static func framePointers(_ file: ProgramFile) -> Check {
        guard let found = file.framePointers else {
            return stacks.missing("not known, because the program names no functions")
        }
        let share = Double(found.with) / Double(found.of)
        let text = "in \(found.with) of \(found.of) functions"
        if share >= 0.5 { return stacks.ok(text) }
        return stacks.warning(
            text, "Compile with -fno-omit-frame-pointer; without, most statements have no line of the program.")
    }

    private static func lineNumbers(_ file: ProgramFile) -> Check {
        if file.hasLines { return lines.ok("functions and lines") }
        if file.hasFunctionNames {
            return lines.warning("functions only", "Compile with -g to see lines.")
        }
        return lines.warning("neither functions nor lines", "Do not strip the program, and compile with -g.")
    }
}

/// A Python interpreter, examined by running it on a few words of its own.
struct PythonInterpreter {
    /// The version: `(3, 11)`.
    let version: (major: Int, minor: Int)
    /// Whether functions can be seen on its stacks: a build without assertions and with the global interpreter lock.
    let isOrdinary: Bool
    /// The file of its SQLite module; `nil` if the module is a part of the interpreter, or does not exist.
    let module: String?
    /// The version of SQLite that it uses; empty if it has no SQLite.
    let sqlite: String
    /// Whether that SQLite can load extensions.
    let canLoadExtensions: Bool
    /// The interpreter's own path, which a version manager's "python3" leads to.
    let executable: String

    /// The versions whose functions the preloaded library knows.
    static let known = 8...14

    private static let question = """
        import sys, sysconfig
        try:
            import _sqlite3 as m, sqlite3
            found = [getattr(m, "__file__", "") or "", sqlite3.sqlite_version]
            found.append(int(hasattr(m.Connection, "enable_load_extension")))
        except ImportError:
            found = ["", "", 0]
        odd = hasattr(sys, "gettotalrefcount") or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
        print("faultline", sys.version_info[0], sys.version_info[1], int(odd), *found, sys.executable, sep="\\t")
        """

    /// - Returns: `nil` if the program does not answer as Python does.
    init?(_ command: String) {
        // Without the user's packages, which could run anything.
        guard case .printed(let text, status: 0) = ExternalCommand([command, "-I", "-c", Self.question]).answer(),
            let line = text.split(separator: "\n").last(where: { $0.hasPrefix("faultline\t") })
        else { return nil }
        let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 8, let major = Int(words[1]), let minor = Int(words[2]) else { return nil }
        version = (major, minor)
        isOrdinary = words[3] == "0"
        module = words[4].isEmpty ? nil : words[4]
        sqlite = words[5]
        canLoadExtensions = words[6] == "1"
        executable = words[7]
    }

    /// Whether a program's name is that of a Python interpreter: `python3`, `python3.11`.
    static func isNamed(_ path: String) -> Bool {
        let name = path.split(separator: "/").last ?? ""
        return name.wholeMatch(of: /(python|pypy)[0-9.]*/) != nil
    }
}

extension Subject {
    /// The result for a command, from its answer to `--version`.
    func check(_ answer: ExternalCommand.Answer, minimumVersion: String? = nil) -> Check {
        if let version = answer.version {
            guard let minimumVersion, Self.numbers(version).lexicographicallyPrecedes(Self.numbers(minimumVersion))
            else {
                return ok(version)
            }
            return warning("\(version), and \(minimumVersion) is needed", "Install a newer \(package).")
        }
        let anew = "Reinstall \(package)."
        switch answer {
        case .missing:
            return missing("not in PATH", "Install \(package); if it is installed, add its directory to PATH.")
        case .unusable(let reason): return failed("does not run (\(reason))", anew)
        case .silent: return failed("\"\(name) --version\" does not end", anew)
        case .printed(_, status: 0): return failed("\"\(name) --version\" reports no version", anew)
        case .printed(_, let status): return failed("does not run (exit status \(status))", anew)
        }
    }

    private static func numbers(_ version: String) -> [Int] {
        version.split(separator: ".").compactMap { Int($0) }
    }
}
