import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R12: work in the store on the main thread")
struct MainThreadRuleTests {
    private static let millisecond: UInt64 = 1_000_000

    /// Fetches and saves on an app's main thread.
    private struct Screen: MusicStory {
        var music = Music()
        lazy var list = music.trace.site(40, "list()")
        lazy var tracks = music.shape()

        init() { music.trace.isMainThread = true }

        mutating func fetch(for milliseconds: UInt64, waiting: UInt64 = 0, site: DictionaryID? = nil) {
            var fetch = TraceEvent.Fetch()
            fetch.shape = tracks
            fetch.entity = music.track
            (fetch.rows, fetch.trips) = (10, 1)
            music.trace.event(
                .fetch(fetch), duration: milliseconds * millisecond, site: site ?? list,
                runDelay: waiting * millisecond)
        }

        mutating func save(for milliseconds: UInt64) {
            var save = TraceEvent.Save()
            save.inserted = 10
            music.trace.event(
                .save(save), duration: milliseconds * millisecond, site: music.trace.site(50, "store()"))
        }
    }

    private func analysis(
        _ kind: TraceEvent.Scope.Kind = .screen, rules: [any Rule] = [MainThreadRule()],
        _ body: (inout Screen) -> Void
    ) -> Analysis {
        var screen = Screen()
        screen.scoped(kind, body)
        return Analysis(Profile(screen.music.trace.closed()), rules: rules)
    }

    @Test func `The finding is at the line that took most of the time, not at the longest event`() throws {
        let analysis = analysis { screen in
            screen.fetch(for: 5, site: screen.music.trace.site(44, "count()"))
            for _ in 0..<30 { screen.fetch(for: 1) }
            screen.save(for: 4)
        }
        let finding = try #require(analysis.findings.first)
        #expect(finding.change?.description == "List.swift:40")
        #expect(
            finding.explanation.map(\.text).first?.hasSuffix("The fetch at List.swift:40 took 77 % of this time.")
                == true)
        #expect(finding.saving.pause?.median == 30e6)
    }

    @Test func `Waiting for a CPU does not count as time in the store`() {
        #expect(analysis { $0.fetch(for: 40) }.findings.count == 1)
        #expect(analysis { $0.fetch(for: 40, waiting: 30) }.findings.isEmpty)
        #expect(analysis { $0.fetch(for: 40, waiting: 5) }.findings.first?.saving.pause?.median == 35e6)
    }

    @Test func `The work of a main context counts, whatever thread does it`() throws {
        func analysis(_ concurrency: String) -> Analysis {
            var screen = Screen()
            screen.music.trace.isMainThread = false
            let context = screen.music.trace.define(
                .context(ContextEntry(name: "viewContext", concurrency: concurrency)))
            screen.scoped(.screen) { screen in
                for thread in [21, 22, 23] as [UInt32] {
                    // The main queue runs each block on another thread.
                    screen.music.trace.thread = thread
                    screen.music.trace.context = context
                    screen.fetch(for: 12)
                }
            }
            return Analysis(Profile(screen.music.trace.closed()), rules: [MainThreadRule()])
        }
        let finding = try #require(analysis("mainQueue").findings.first)
        #expect(finding.saving.pause?.median == 36e6 && finding.change?.description == "List.swift:40")
        #expect(analysis("privateQueue").findings.isEmpty)
    }

    @Test func `Work in the store for longer than a frame is reported at its line`() throws {
        let analysis = analysis { screen in
            screen.fetch(for: 40)
            screen.fetch(for: 10, site: screen.music.trace.site(44, "count()"))
        }
        #expect(analysis.checks.map(\.examined?.text) == ["50.0 ms"])
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.count == 1)
        #expect(finding.rule == "R12" && finding.severity == .warning)
        #expect(finding.title.text == "Fetch on a background context, or less at a time")
        #expect(finding.change?.description == "List.swift:40")
        #expect(
            finding.explanation.map(\.text) == [
                "The main thread was in the store for 50.0 ms; a frame lasts 16 ms. The fetch at List.swift:40 took "
                    + "80 % of "
                    + "this time."
            ])
        // Doing the same work elsewhere saves no time.
        #expect(finding.saving.time == .none)
        #expect(finding.saving.pause == Saving.Range(median: 40e6, low: 20e6, high: 50e6))
        #expect(finding.signature == "R12|fetch|list()")
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "stretches": 1, "events": 2, "blockedTime": 50e6, "longest": 50e6, "longestParts": 40e6,
                "wallTime": 50e6,
            ])
    }

    @Test func `A save of more than 100 ms is an error with advice of its own`() throws {
        let finding = try #require(analysis { $0.save(for: 120) }.findings.first)
        #expect(finding.severity == .error)
        #expect(finding.title.text == "Save on a background context, not on the main thread")
    }

    @Test func `Several busy intervals of one line add up`() throws {
        let finding = try #require(
            analysis { screen in
                for _ in 0..<3 {
                    screen.fetch(for: 20)
                    screen.music.trace.now += 2 * Self.millisecond
                }
                screen.fetch(for: 30)
            }.findings.first)
        #expect(
            finding.explanation.map(\.text).first?.hasPrefix(
                "The main thread was in the store for up to 30.0 ms, 4 times, 90.0 ms in all; ") == true)
    }

    // MARK: - Work that is not reported

    @Test func `Work for less than a frame, or with pauses in between, is not reported`() {
        #expect(analysis { $0.fetch(for: 15) }.findings.isEmpty)
        let paused = analysis { screen in
            for _ in 0..<10 {
                screen.fetch(for: 10)
                screen.music.trace.now += 2 * Self.millisecond
            }
        }
        #expect(paused.findings.isEmpty)
    }

    @Test(arguments: [TraceEvent.Scope.Kind.other, .request, .bulk, .test, .setup])
    func `Work outside scopes of kind screen is not reported`(_ kind: TraceEvent.Scope.Kind) {
        let analysis = analysis(kind) { $0.fetch(for: 200) }
        #expect(analysis.findings.isEmpty)
        #expect(analysis.checks.map(\.examined?.text) == [nil])
    }

    @Test func `Work on another thread is not reported`() {
        let analysis = analysis { screen in
            screen.music.trace.isMainThread = false
            screen.fetch(for: 200)
        }
        #expect(analysis.findings.isEmpty)
    }

    @Test func `R12 ignores waits`() {
        let analysis = analysis { screen in
            var wait = TraceEvent.Wait()
            wait.isBlocking = true
            screen.music.trace.event(.wait(wait), duration: 200 * Self.millisecond)
        }
        #expect(analysis.findings.isEmpty)
    }

    @Test func `R12 reports nothing if another rule has advice for the line`() {
        struct Other: Rule {
            let id = "R99"
            let name = "other"
            let purpose = "other"
            let kinds: Set<EventKind> = []
            let severity: Severity
            var manual: RuleManual { MainThreadRule().manual }

            func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
                let site = CallSite(file: "App/List.swift", line: 40)
                return RuleOutcome(findings: [
                    Finding(
                        rule: id, ruleName: name, title: "", change: site, severity: severity, fix: "",
                        saving: Saving(),
                        confidence: .high, signature: id)
                ])
            }
        }
        let rules = { (severity: Severity) -> [String] in
            analysis(rules: [MainThreadRule(), Other(severity: severity)]) { $0.fetch(for: 40) }.findings.map(\.rule)
        }
        #expect(rules(.warning) == ["R99"])
        // A note does not count as advice.
        #expect(rules(.note) == ["R12", "R99"])
    }

    @Test func `A finding with lost events is a note`() throws {
        let finding = try #require(
            analysis { screen in
                screen.fetch(for: 40)
                screen.music.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 1)))
                screen.fetch(for: 1)
            }.findings.first)
        #expect(finding.severity == .note)
    }
}
