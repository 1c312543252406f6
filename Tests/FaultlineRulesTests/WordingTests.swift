import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Wording")
struct WordingTests {
    private let path = "publisher"

    @Test func `A sentence keeps the meaning of its parts`() {
        let site = CallSite(file: "App/List.swift", line: 42, function: "show()")
        let sentence: Wording =
            "Prefetch \(quoted: path) with the fetch of \(entity: "Book") at \(site: site): \(trips: 99) less"
        #expect(sentence.text == "Prefetch \"publisher\" with the fetch of Book at List.swift:42: 99 trips less")
        #expect(
            sentence.pieces == [
                .text("Prefetch "), .property("publisher", isQuoted: true), .text(" with the fetch of "),
                .entity("Book"), .text(" at "), .site(site), .text(": "),
                .quantity(Quantity(99, .trips, "trip")), .text(" less"),
            ])
    }

    @Test func `Adjacent texts become one piece, and empty texts are dropped`() {
        let (empty, name) = ("", "list")
        let sentence: Wording = "The \(empty)\(name) " + "is " + "long\(empty)."
        #expect(sentence.pieces == [.text("The list is long.")])
        #expect(("" as Wording).isEmpty && Wording(empty).pieces.isEmpty)
        #expect(sentence == "The list is long.")
    }

    @Test func `Parts are joined with a separator`() {
        let names = ["title", "pages"].map { "\(property: $0)" as Wording }
        #expect(names.joined(separator: " and ").text == "title and pages")
        #expect(names.joined().pieces == [.property("title", isQuoted: false), .property("pages", isQuoted: false)])
        #expect([Wording]().joined(separator: ", ").isEmpty)
    }

    @Test(
        arguments: [
            ("\(count: 1_204)", "1,204", 1204, .count),
            ("\(count: 1, "fetch", plural: "fetches")", "1 fetch", 1, .count),
            ("\(count: 20, "fetch", plural: "fetches")", "20 fetches", 20, .count), ("\(rows: 1)", "1 row", 1, .rows),
            ("\(rows: 1_500, "loaded row")", "1,500 loaded rows", 1500, .rows), ("\(trips: 0)", "0 trips", 0, .trips),
            ("\(plain: 1_500, of: .rows)", "1500", 1500, .rows), ("\(decimal: 2.25, places: 1)", "2.3", 2.25, .count),
            ("\(duration: 12_345_678.0)", "12.3 ms", 12_345_678, .nanoseconds),
            ("\(duration: UInt64(812))", "812 ns", 812, .nanoseconds), ("\(size: 19_968.0)", "19.5 KiB", 19968, .bytes),
            ("\(percent: 0.41)", "41 %", 0.41, .share), ("\(count: -3)", "-3", -3, .count),
        ] as [(Wording, String, Double, Evidence.Unit)])
    func `A number keeps its value and unit`(
        sentence: Wording, text: String, value: Double, unit: Evidence.Unit
    ) throws {
        #expect(sentence.text == text)
        let quantity = try #require(sentence.quantities.first)
        #expect(quantity.value == value && quantity.unit == unit && quantity.range == nil)
    }

    @Test func `The largest count is exact`() {
        let sentence: Wording = "\(count: UInt64.max, "event")"
        #expect(sentence.text == "18,446,744,073,709,551,615 events")
        #expect(sentence.quantities.map(\.amount) == [.whole(.max)])
    }

    @Test func `A time keeps its range`() {
        let range = Saving.Range(median: 12e6, low: 11e6, high: 13e6)
        let (whole, span): (Wording, Wording) = ("\(duration: range)", "\(span: range)")
        #expect(whole.text == "12.0 ms (11.0–13.0 ms)" && span.text == "11.0–13.0 ms")
        for quantity in whole.quantities + span.quantities {
            #expect(quantity.value == 12e6 && quantity.range == 11e6...13e6)
        }
    }

    @Test func `A threshold reads as it is written in a thresholds file`() {
        let sentence: Wording = "below \(threshold: Significance.share) and \(threshold: Significance.time)"
        #expect(sentence.text == "below 1 % and 2 ms")
        #expect(sentence.quantities.map(\.value) == [0.01, 2_000_000])
        #expect(sentence.quantities.map(\.unit) == [.share, .nanoseconds])
    }

    @Test func `Findings have entities and numbers as pieces, not as plain text`() throws {
        let analysis = Analysis(Profile(GroceriesStory.trace))
        #expect(!analysis.findings.isEmpty)
        for finding in analysis.findings {
            let pieces = finding.title.pieces + finding.fix.pieces + finding.explanation.flatMap(\.pieces)
            #expect(!finding.explanation.flatMap(\.quantities).isEmpty, "\(finding.title)")
            #expect(pieces.contains { if case .entity = $0 { true } else { false } }, "\(finding.title)")
            // Only numbers that the rule does not measure are plain text.
            let words = pieces.compactMap { if case .text(let words) = $0 { words } else { nil } }
            let fixed = ["95 %", "16 KiB", "a frame lasts 16 ms"]
            let loose = words.filter { text in text.contains(where: \.isNumber) && !fixed.contains { text.contains($0) }
            }
            #expect(loose.isEmpty)
        }
    }
}
