import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("The section about migrations")
struct MigrationTextTests {
    private static let millisecond: UInt64 = 1_000_000

    private struct Launch {
        var music = Music()

        mutating func part(_ stage: TraceEvent.Migration.Stage, _ name: String, rows: UInt64, for milliseconds: UInt64)
        {
            var part = TraceEvent.Migration()
            (part.stage, part.rows) = (stage, rows)
            part.name = name.isEmpty ? 0 : music.trace.define(.name(NameEntry(name: name)))
            music.trace.event(.migration(part), duration: milliseconds * MigrationTextTests.millisecond)
        }

        mutating func migrate(_ way: TraceEvent.Migration.Way, for milliseconds: UInt64, error: UInt32 = 0) {
            var whole = TraceEvent.Migration()
            (whole.stage, whole.way, whole.bytes, whole.error) = (.whole, way, 2_000_000, error)
            whole.name = music.trace.define(.name(NameEntry(name: "/data/Music.sqlite")))
            music.trace.event(.migration(whole), duration: milliseconds * MigrationTextTests.millisecond)
        }
    }

    @Test func `The report says where the time went`() {
        var launch = Launch()
        launch.part(.plan, "", rows: 0, for: 5)
        launch.part(.rows, "Track", rows: 120_000, for: 60)
        launch.part(.index, "Track", rows: 120_000, for: 30)
        launch.migrate(.inferred, for: 100)
        launch.migrate(.objects, for: 50, error: 11)
        let analysis = Analysis(Profile(launch.music.trace.closed()))
        let text = TextReport(analysis).render()
        let section = text.split(separator: "\n", omittingEmptySubsequences: false).drop {
            !$0.hasPrefix("Where the migration's time went")
        }.prefix { !$0.isEmpty }
        #expect(
            section.map { $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ") } == [
                "Where the migration's time went (150 ms)", "Music.sqlite (1.91 MiB): in place, as inferred; 100 ms",
                "Music.sqlite (1.91 MiB): object by object, with a mapping model; 50.0 ms; it failed",
                "part rows rows a second time share", "changing rows of Track 120,000 2,000,000 60.0 ms 40 %",
                "creating indexes of Track 120,000 4,000,000 30.0 ms 20 %",
                "planning and checking rows – – 5.00 ms 3.3 %",
                "opening and closing files – – 55.0 ms 37 %",
            ])
    }
}
