import ArgumentParser
import FaultlineWorkloads
import Foundation

extension DemoCommand {
    /// The shopping list.
    struct Groceries: ParsableCommand, DemoWorkload {
        static let configuration = CommandConfiguration(
            commandName: "groceries",
            abstract: "Records a shopping list with four flaws and without them, and compares.",
            discussion: """
                The flaws: \(flaws) Everything is run and measured on this machine.
                """)

        static let flaws =
            "batches of 50 whatever the screen shows, a photo in the row that the list fetches, a location that each row looks "
            + "up (which costs little where SQLite finds it in memory), and views that keep their photo when they close."

        @Option(name: .long, help: "The number of items.")
        var items = 2000

        @Option(name: .long, help: "The number of rows on a screen.")
        var rows = 10

        @OptionGroup
        var options: DemoOptions

        func validate() throws {
            guard items > 0, rows > 0 else {
                throw ValidationError("--items and --rows must be at least 1.")
            }
        }

        func run() throws {
            try Demo(self, options).run()
        }

        var title: String { "The shopping list" }
        var flawsInWords: String { "four flaws" }
        var size: String { "\(items) items, \(rows) rows on a screen" }

        func prepare(isFlawed: Bool, at store: URL) throws {
            let form = GroceriesForm(items: items, visibleRows: rows, flaws: isFlawed ? .all : [])
            try FaultlineWorkloads.Groceries.prepare(form, at: store)
        }

        var workload: [String] { ["groceries", "--items", String(items), "--rows", String(rows)] }
    }
}
