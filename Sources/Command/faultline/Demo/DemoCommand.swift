import ArgumentParser

/// Records a sample app with and without its flaws, and prints both reports and the difference.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Records a sample app with its flaws and without them, and compares.",
        discussion: """
            faultline demo                          # a shopping list with four flaws
            faultline demo music --database FILE    # a music library with five
            faultline demo python                   # a shop in Django with five
            faultline demo migration                # a store that is migrated in three ways

            Everything is run and measured on this machine. The options are those of \
            "faultline demo groceries --help", "faultline demo music --help", "faultline demo python --help" and \
            "faultline demo migration --help".
            """,
        subcommands: [Groceries.self, Music.self, PythonShop.self, Migration.self], defaultSubcommand: Groceries.self)
}

/// The options that all demos share.
struct DemoOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, help: "A directory for the stores and traces; it is kept. Default: a temporary one.",
        completion: .directory)
    var output: String?

    /// Where the stores and traces are.
    var hint: String {
        output.map { "The stores and traces are in \($0)." } ?? "To keep the stores and traces, add -o DIRECTORY."
    }
}
