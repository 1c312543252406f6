import FaultlineTrace
import Testing

@testable import FaultlineFindings
@testable import FaultlineRules

@Suite("Outcomes of trials")
struct TrialTests {
    private func finding(_ time: Saving.Range, pause: Saving.Range? = nil) -> Finding {
        Finding(
            rule: "R01", ruleName: "N+1 faults", title: "Prefetch it", severity: .warning, fix: "",
            saving: Saving(time: time, pause: pause), confidence: .high, signature: "")
    }

    /// A measurement of eight rounds that all took the same time.
    private func measurement(
        _ before: Double, _ after: Double, pause: (Double, Double) = (0, 0)
    ) -> TrialMeasurement {
        TrialMeasurement(
            operations: 4, recordedOperations: 8, rounds: 8,
            time: .init(Array(repeating: (before, after), count: 8)),
            pause: .init(Array(repeating: pause, count: 8)), before: .init(trips: 9, rows: 90),
            after: .init(trips: 2, rows: 91))
    }

    @Test(arguments: [
        (100.0, 60.0, Trial.Outcome.confirmed), (100, 30, .more), (100, 95, .less), (100, 100, .withdrawn),
        (100, 120, .withdrawn),
    ])
    func `The saving is compared with the prediction`(_ before: Double, _ after: Double, _ outcome: Trial.Outcome) {
        let found = finding(Saving.Range(median: 40, low: 30, high: 50))
        let trial = Trial(found, measurement(before, after), recorded: before, notes: [])
        #expect(trial.outcome == outcome)
        #expect(trial.expected == Saving.Range(median: 40, low: 30, high: 50))
        #expect(trial.notes == [])
    }

    /// A change that cost time was once confirmed because no saving had been predicted.
    @Test func `A change without a predicted saving is never confirmed`() {
        for after in [100.0, 115, 97] {
            #expect(Trial(finding(.none), measurement(100, after), recorded: 100, notes: []).outcome == .nothing)
        }
        #expect(Trial(finding(.none), measurement(100, 60), recorded: 100, notes: []).outcome == .more)
    }

    @Test func `The prediction is scaled to the machine's speed`() {
        let found = finding(Saving.Range(median: 40, low: 30, high: 50))
        let trial = Trial(found, measurement(50, 30), recorded: 100, notes: ["Drawn."])
        #expect(trial.outcome == .confirmed)
        #expect(trial.expected == Saving.Range(median: 20, low: 15, high: 25))
        #expect(
            trial.notes == [
                "Drawn.",
                "This machine is 2.00 times as fast as the recorded run; the prediction was adjusted.",
            ])
        #expect(
            Trial(found, measurement(50, 30), recorded: 0, notes: []).notes == [
                "The trace does not show how long the work took."
            ])
    }

    @Test func `A finding that shortens a pause is judged by the pause`() {
        let pause = Saving.Range(median: 8, low: 6, high: 10)
        let found = finding(Saving.Range(median: 40, low: 30, high: 50), pause: pause)
        let trial = Trial(found, measurement(100, 100, pause: (20, 13)), recorded: 100, notes: [])
        #expect(trial.outcome == .confirmed && trial.expected == pause)
        #expect(trial.figure == trial.measurement?.pause)
    }

    @Test func `A prediction within the noise is not withdrawn, and a larger one is`() {
        let rounds = (0..<12).map { (before: 100.0, after: $0.isMultiple(of: 2) ? 80.0 : 115.0) }
        let measured = TrialMeasurement(
            operations: 1, recordedOperations: 1, rounds: 12, time: .init(rounds), pause: .init(rounds),
            before: .init(trips: 9, rows: 1), after: .init(trips: 1, rows: 1))
        let expected = Saving.Range(median: 10, low: 8, high: 12)
        #expect(Trial(finding(expected), measured, recorded: 100, notes: []).outcome == .unclear)
        let large = Saving.Range(median: 60, low: 50, high: 70)
        #expect(Trial(finding(large), measured, recorded: 100, notes: []).outcome == .withdrawn)
    }

    /// The bounds are the values at `place` from either end.
    ///
    /// By the binomial distribution, the median lies beyond either bound with a probability of at most 2.5 %.
    @Test(arguments: [(5, 1), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (40, 14)])
    func `The range of a median is its 95 % confidence interval`(_ count: Int, _ place: Int) {
        let values = (1...count).map(Double.init).shuffled()
        let range = Saving.Range.median(of: values)
        #expect(range.median == Double(count + 1) / 2)
        #expect(range.low == Double(place) && range.high == Double(count + 1 - place))
    }

    @Test func `Without values there is no median, and one value is its own range`() {
        #expect(Saving.Range.median(of: []) == .none)
        #expect(Saving.Range.median(of: [3]) == Saving.Range(median: 3, low: 3, high: 3))
    }
}
