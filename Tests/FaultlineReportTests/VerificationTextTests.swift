import FaultlineReport
import FaultlineTrace
import Testing

@testable import FaultlineFindings
@testable import FaultlineRules

@Suite("The text of a verification")
struct VerificationTextTests {
    private func finding(_ rule: String, _ title: String, pause: Saving.Range? = nil, line: Int = 42) -> Finding {
        Finding(
            rule: rule, ruleName: "N+1 faults", title: Wording(title),
            change: CallSite(file: "App/List.swift", line: line),
            severity: .warning, fix: "",
            saving: Saving(time: Saving.Range(median: 8_000_000, low: 6_000_000, high: 9_000_000), pause: pause),
            confidence: .high, signature: title)
    }

    private func measurement(_ after: Double, pause: Double = 0) -> TrialMeasurement {
        TrialMeasurement(
            operations: 8, recordedOperations: 18, rounds: 12,
            time: .init((0..<12).map { (10_000_000 + Double($0), after) }),
            pause: .init((0..<12).map { _ in (3_000_000, pause) }), before: .init(trips: 1101, rows: 2000),
            after: .init(trips: 3, rows: 2000))
    }

    @Test func `The text shows measured and predicted savings, and the findings that were not tried`() {
        let pause = Saving.Range(median: 1_000_000, low: 500_000, high: 2_000_000)
        let trials = [
            Trial(
                finding("R01", "Prefetch \"list\" with the fetch of Item"), measurement(2_000_000),
                recorded: 10_000_000,
                notes: ["Values were drawn."]),
            Trial(
                finding("R02", "Set the batch size of Item to 15", pause: pause),
                measurement(11_000_000, pause: 1_800_000),
                recorded: 20_000_000, notes: []),
            Trial(finding("R20", "Do not prefetch it"), measurement(12_000_000), recorded: 0, notes: []),
            Trial(finding("R04", "Fetch Item at once"), notTried: "Nobody can."),
            Trial(finding("R08", "Search words"), notTried: "Nobody can."),
            Trial(finding("R14", "Take pages"), notTried: "It promises nothing."),
        ]
        let text = VerificationText(Verification(store: "/tmp/Library.sqlite", trials: trials)).render()
        #expect(
            text == """
                Library.sqlite: 3 findings tried on a copy: 1 confirmed, 1 saves more, 1 withdrawn.

                  1. confirmed  R01 N+1 faults                                                         List.swift:42
                     Prefetch "list" with the fetch of Item.
                     10.0 ms before, 2.00 ms after: saves 8.00 ms, 80 %. Predicted: 8.00 ms (6.00–9.60 ms).
                     Replayed 8 of 18 recorded operations, 12 times with the change and without; the times are
                     extrapolated to all. Trips 1,101 → 3, rows 2,000 in the 8 replayed.
                     Values were drawn.

                  2. saves more  R02 N+1 faults                                                        List.swift:42
                     Set the batch size of Item to 15.
                     The longest wait: 3.00 ms before, 1.80 ms after: saves 1.20 ms, 40 %. Predicted: 500 µs
                     (250 µs–1.00 ms).
                     Replayed 8 of 18 recorded operations, 12 times with the change and without; the times are
                     extrapolated to all. Trips 1,101 → 3, rows 2,000 in the 8 replayed. Time 10.0 ms → 11.0 ms in
                     all.
                     This machine is 2.00 times as fast as the recorded run; the prediction was adjusted.

                  3. withdrawn  R20 N+1 faults                                                         List.swift:42
                     Do not prefetch it.
                     10.0 ms before, 12.0 ms after: costs 2.00 ms, 20 %. Predicted: 8.00 ms (6.00–9.60 ms).
                     Replayed 8 of 18 recorded operations, 12 times with the change and without; the times are
                     extrapolated to all. Trips 1,101 → 3, rows 2,000 in the 8 replayed.
                     The finding is withdrawn: on this store the change saves no time.
                     The trace does not show how long the work took.

                Not tried
                  Nobody can.
                    R04 Fetch Item at once
                    R08 Search words
                  It promises nothing.
                    R14 Take pages

                """)
        for width in [80, 90] {
            let lines = VerificationText(Verification(store: "s", trials: trials)).render(width: width)
            #expect(lines.split(separator: "\n").allSatisfy { $0.count <= width })
        }
    }

    @Test func `The text says if there are no findings or no trials`() {
        #expect(
            VerificationText(Verification(store: "a/b.sqlite", trials: [])).render()
                == "b.sqlite: the trace has no findings to try.\n")
        let untried = [Trial(finding("R04", "Fetch Item at once"), notTried: "Nobody can.")]
        #expect(
            VerificationText(Verification(store: "b.sqlite", trials: untried)).render()
                == "b.sqlite: none of 1 finding could be tried.\n\nNot tried\n  Nobody can.\n    R04 Fetch Item at "
                + "once\n"
        )
    }
}
