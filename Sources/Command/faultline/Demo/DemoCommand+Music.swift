import ArgumentParser
import FaultlineRecorder
import FaultlineWorkloads
import Foundation

extension DemoCommand {
    /// The music library.
    struct Music: ParsableCommand, DemoWorkload {
        static let configuration = CommandConfiguration(
            commandName: "music",
            abstract: "Records a music library with five flaws and without them, and compares.",
            discussion: """
                Its artists, albums, songs and playlists are those of a Chinook database \
                (https://github.com/lerocha/chinook-database), which is not changed.

                The flaws: \(flaws) Everything is run and measured on this machine.

                Under "faultline record", it runs only the form with the flaws, once, and the report is about that form:

                faultline record -- faultline demo music --database Chinook_Sqlite.sqlite
                """)

        static let flaws =
            "songs that look up their albums one by one, searches that no index serves, songs that are fetched to be counted, a "
            + "sum that is computed over all songs in memory, and a fetch for every album of an artist."

        @Option(name: .long, help: "The Chinook database, an SQLite file.", completion: .file())
        var database: String

        @Option(name: .long, help: "The number of rows on a screen.")
        var rows = 20

        @OptionGroup
        var options: DemoOptions

        func validate() throws {
            guard rows > 0 else {
                throw ValidationError("--rows must be at least 1.")
            }
        }

        func run() throws {
            let demo = Demo(self, options)
            if Recorder.shared.isEnabled { try runHere(demo) } else { try demo.run() }
        }

        /// Runs the form with the flaws in this process, which is being recorded.
        private func runHere(_ demo: Demo) throws {
            try demo.inDirectory { directory in
                let store = try demo.prepare(isFlawed: true, in: directory)
                let shown = try MusicLibrary(form(isFlawed: true), at: store).run()
                try Terminal.output.write("\(demo.heading(isFlawed: true))\n\(shown)\n")
            }
        }

        var title: String { "The music library" }
        var flawsInWords: String { "five flaws" }
        var size: String { "\(rows) rows on a screen" }

        private func form(isFlawed: Bool) -> MusicLibraryForm {
            MusicLibraryForm(visibleRows: rows, flaws: isFlawed ? .all : [])
        }

        func prepare(isFlawed: Bool, at store: URL) throws {
            try MusicLibrary.prepare(form(isFlawed: isFlawed), from: URL(fileURLWithPath: database), at: store)
        }

        var workload: [String] { ["music", "--rows", String(rows)] }
    }
}
