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
    private static let python = Subject(name: "Python", why: "Statements are shown at the lines of Python functions.")
    private static let stacks = Subject(
        name: "frame pointers", why: "Stacks are read through them, to find the line that ran a statement.")
    private static let lines = Subject(name: "lines", why: "Stacks are shown as functions and lines.")

    var silence: Check {
        Self.program.failed("does not respond", "Check the file system of \"\(command)\".")
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
            return program.failed("\(file.path) is no 64-bit ELF file", "Name a program that Linux runs.")
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
            return sqlite.failed(
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
