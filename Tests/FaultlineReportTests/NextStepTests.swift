import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("The step after a document")
struct NextStepTests {
    private let trace = NextStep.Input(path: "trace.json")
    private let analysis = Analysis(Profile(GroceriesStory.trace))

    private func command(_ messages: [TraceMessage], isProfile: Bool = false) throws -> String? {
        let input = try #require(NextStep.Input(path: "trace.json", isProfile: isProfile))
        return NextStep.after(Analysis(Profile(messages)), input)?.command
    }

    @Test func `A report leads to a trial, to samples, or nowhere`() throws {
        #expect(try command(GroceriesStory.trace) == "faultline verify trace.json --store …")
        #expect(try command([]) == nil)
        var sampled = TraceBuilder()
        sampled.sample(["show", "main"], times: 3)
        #expect(try command(sampled.closed()) == "faultline tree trace.json --weight cpu --bottom-up")
        #expect(try command(sampled.closed(), isProfile: true) == nil)
        var plain = TraceBuilder()
        plain.event(.save(TraceEvent.Save()), duration: 10)
        #expect(try command(plain.closed()) == "faultline record --cpu -- …")
    }

    @Test func `A log of another tool leads to its events`() throws {
        let began = ProcessBegan(process: 7, source: .django, gaps: [TraceGap(.counters)])
        let event = TraceEvent(start: 1, duration: 5, thread: 7, process: 7, .sql(TraceEvent.Statement()))
        let log: [TraceMessage] = [.began(began), .event(event)]
        #expect(try command(log) == "faultline events trace.json")
        #expect(try command(log, isProfile: true) == nil)
    }

    @Test func `A trial that saves something leads to a comparison, and others to the finding`() throws {
        let trace = try #require(trace)
        let finding = analysis.findings[0]
        let failed = Verification(store: "s", trials: [Trial(finding, notTried: "No fetch can be replayed.")])
        #expect(NextStep.after(failed, trace)?.command == "faultline explain trace.json 1")
        #expect(NextStep.after(Verification(store: "s", trials: []), trace) == nil)
        let figure = TrialMeasurement.Figure([(before: 2e6, after: 1e6), (before: 2.1e6, after: 1.1e6)])
        let counts = TrialMeasurement.Counts(trips: 100, rows: 100)
        let measurement = TrialMeasurement(
            operations: 1, recordedOperations: 1, rounds: 2, time: figure, pause: figure, before: counts, after: counts)
        let helped = Verification(
            store: "s", trials: [Trial(finding, measurement, recorded: 2e6, notes: [])])
        #expect(NextStep.after(helped, trace)?.command == "faultline diff trace.json …")
    }

    @Test func `Only words that a shell would change are quoted`() {
        func command(_ path: String, _ options: [String] = []) -> String? {
            NextStep.Input(path: path, options: options).flatMap { NextStep.after(analysis, $0)?.command }
        }
        #expect(command("/tmp/Café/a-b.json") == "faultline verify /tmp/Café/a-b.json --store …")
        #expect(command("$HOME/*.json") == "faultline verify '$HOME/*.json' --store …")
        #expect(command("a", ["--library", "my lib"]) == "faultline verify a --store … --library 'my lib'")
        #expect(command("a\nb") == nil)
    }
}
