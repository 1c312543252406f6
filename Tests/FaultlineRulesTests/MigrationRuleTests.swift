import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R31 and R32: migrations")
struct MigrationRuleTests {
    private static let millisecond: UInt64 = 1_000_000

    /// A launch that migrates a store.
    private struct Launch: MusicStory {
        var music = Music()
        lazy var site = music.trace.site(12, "launch()")
        lazy var file = music.trace.define(.name(NameEntry(name: "/data/Music.sqlite")))

        init(isMainThread: Bool) { music.trace.isMainThread = isMainThread }

        mutating func migrate(
            _ way: TraceEvent.Migration.Way = .inferred, for milliseconds: UInt64, inSQL: UInt64 = 0, error: UInt32 = 0
        ) {
            var whole = TraceEvent.Migration()
            (whole.stage, whole.way, whole.bytes, whole.name) = (.whole, way, 2_000_000, file)
            (whole.timeInSQL, whole.error) = (inSQL * millisecond, error)
            music.trace.event(.migration(whole), duration: milliseconds * millisecond, site: site)
        }

        /// Shows that the program has screens.
        mutating func show() { scoped(.screen) { $0.music.trace.now += 1 } }
    }

    private func analysis(onMainThread: Bool = true, _ body: (inout Launch) -> Void) -> Analysis {
        var launch = Launch(isMainThread: onMainThread)
        body(&launch)
        return Analysis(
            Profile(launch.music.trace.closed()),
            rules: [MigrationOnMainThreadRule(), NeedlessMappingRule(), MainThreadRule()])
    }

    @Test func `A migration on the main thread of a program with screens is reported at the line that opens the store`()
        throws
    {
        let analysis = analysis {
            $0.migrate(for: 550)
            $0.show()
        }
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.map(\.rule) == ["R31"])
        #expect(finding.change?.description == "List.swift:12")
        #expect(finding.severity == .warning)
        #expect(finding.saving.pause?.median == 550e6)
        #expect(
            finding.explanation.first?.text.hasPrefix(
                "Migrating Music.sqlite kept the main thread from drawing for 550 ms.") == true)
        #expect(analysis.checks.map { $0.examined?.text } == ["1 migration", nil, "550 ms"])
        let long = self.analysis {
            $0.migrate(for: 1200)
            $0.show()
        }
        #expect(long.findings.first?.severity == .error)
    }

    @Test func `Short migrations, other threads and programs without screens are not reported`() {
        func findings(_ onMainThread: Bool, _ milliseconds: UInt64, hasScreen: Bool) -> [String] {
            analysis(onMainThread: onMainThread) {
                $0.migrate(for: milliseconds)
                if hasScreen { $0.show() }
            }.findings.map(\.rule)
        }
        #expect(findings(true, 99, hasScreen: true).isEmpty)
        #expect(findings(false, 5000, hasScreen: true).isEmpty)
        #expect(findings(true, 5000, hasScreen: false).isEmpty)
        #expect(findings(true, 100, hasScreen: true) == ["R31"])
    }

    @Test func `A mapping model that does what SQL could do is reported with the estimated saving`() throws {
        let analysis = analysis(onMainThread: false) { $0.migrate(.objects, for: 900, inSQL: 100) }
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.map(\.rule) == ["R32"])
        #expect(finding.saving.time.median == 800e6)
        #expect(
            finding.explanation.first?.text
                == "A migration manager recreated every object of Music.sqlite, in 900 ms. Its mapping model only does what can be inferred from names and renaming identifiers. SQL would do the same in place in about 100 ms, estimated by copying some of the rows."
        )
    }

    @Test func `Mapping models that SQL cannot replace, or hardly, are not reported`() {
        #expect(analysis(onMainThread: false) { $0.migrate(.objects, for: 9000) }.findings.isEmpty)
        #expect(analysis(onMainThread: false) { $0.migrate(.objects, for: 140, inSQL: 100) }.findings.isEmpty)
        #expect(analysis(onMainThread: false) { $0.migrate(.mapping, for: 9000) }.findings.isEmpty)
    }
}
