import Foundation

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
