import ArgumentParser
import Foundation

extension DemoCommand {
    /// The shop in Django.
    struct PythonShop: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "python",
            abstract: "Records a shop in Django with five flaws and without them, and compares.",
            discussion: """
                The shop does not know Faultline: its statements are recorded from outside.

                The flaws: \(DjangoShop.flaws) Everything is run and measured on this machine. Django is the one that \
                "python3" can import, or else comes from PyPI into a temporary directory.
                """)

        @OptionGroup
        var options: DemoOptions

        func run() throws {
            guard PreloadedLibrary.recorder.path != nil else {
                throw CommandFailure.usage(
                    "\(PreloadedLibrary.recorder.name), which records programs in Python, is not beside the command; build it with "
                        + "\"make build\".")
            }
            try PythonEnvironment.withDjango { python in
                try Demo(DjangoShop(python: python), options).run()
            }
        }
    }
}

/// The shop, as an app that a demo runs.
private struct DjangoShop: DemoApp {
    let python: String

    static let flaws =
        "books that look up their authors one by one, authors that look up their books, a search that no index serves, a count "
        + "that is repeated for each page, and visits that are committed one by one."

    var title: String { "The shop in Django" }
    var flawsInWords: String { "five flaws" }
    var size: String { "20000 books, 500 authors" }

    func prepare(isFlawed: Bool, at store: URL) throws {
        try Data(PackageResources.shop_py).write(to: script(beside: store))
        let words = [python, script(beside: store).path, "prepare", store.path, Self.form(isFlawed)]
        guard case .printed(let text, let status) = ExternalCommand(words, patience: 60_000).answer(), status == 0
        else {
            throw CommandFailure.tool("The demo's app could not make its store at \"\(store.path)\" with \(python).")
        }
        if !text.isEmpty { Terminal.tell(text) }
    }

    func command(isFlawed: Bool, store: URL, memory: String) throws -> [String] {
        [python, script(beside: store).path, "run", store.path, Self.form(isFlawed), memory]
    }

    private func script(beside store: URL) -> URL {
        store.deletingPathExtension().appendingPathExtension("py")
    }

    private static func form(_ isFlawed: Bool) -> String { isFlawed ? "flawed" : "improved" }
}

/// A Python interpreter that can import Django.
private enum PythonEnvironment {
    /// Runs `work` with the interpreter of the user, or with one in a temporary directory to which Django is installed.
    ///
    /// - Throws: ``CommandFailure`` if there is no Python, or Django cannot be installed.
    static func withDjango(_ work: (String) throws -> Void) throws {
        for python in ["python3", "/usr/bin/python3"] where hasDjango(python) { return try work(python) }
        try Demo.inTemporaryDirectory(orElse: "Set TMPDIR.") { directory in
            try work(installDjango(in: directory.appendingPathComponent("environment").path))
        }
    }

    /// Creates an environment with Django from PyPI, and returns its interpreter.
    private static func installDjango(in environment: String) throws -> String {
        let python = environment + "/bin/python3"
        Terminal.tell("Installing Django from PyPI into a temporary directory.")
        let made = ExternalCommand(["python3", "-m", "venv", environment], patience: 60_000).answer()
        let installed = ExternalCommand(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "django"], patience: 300_000
        ).answer()
        guard case .printed(_, status: 0) = made, case .printed(_, status: 0) = installed, hasDjango(python) else {
            throw CommandFailure.usage(
                "The demo needs Django, which \"python3\" cannot import and which could not be installed from PyPI; install it "
                    + "(apt-get install python3-django) and try again.")
        }
        return python
    }

    private static func hasDjango(_ python: String) -> Bool {
        if case .printed(_, status: 0) = ExternalCommand([python, "-c", "import django"], patience: 20_000).answer() {
            return true
        }
        return false
    }
}
