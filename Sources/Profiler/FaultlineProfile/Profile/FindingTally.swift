package import FaultlineTrace

/// The recordings of a profile in which one finding occurs.
///
/// Each recording is examined on its own before it is merged, because the sum does not show how many of them have a
/// finding.
package struct FindingTally: Sendable, Hashable {
    /// The rule's number and its name.
    package private(set) var rule = ""
    package private(set) var ruleName = ""
    /// The change to make; of different ones, the first in alphabetical order.
    package private(set) var title = ""
    /// The line to change, or `nil` if the traces do not have it.
    package private(set) var site: CallSite?
    /// The number of recordings in which it is a note, a warning and an error.
    package private(set) var notes: UInt64 = 0
    package private(set) var warnings: UInt64 = 0
    package private(set) var errors: UInt64 = 0
    /// The sum of the predicted savings, in nanoseconds.
    package private(set) var saving: UInt64 = 0

    package init() {}

    /// Creates a tally of one recording.
    ///
    /// - Parameter grade: 0 for a note, 1 for a warning, and 2 for an error.
    package init(rule: String, ruleName: String, title: String, site: CallSite?, grade: Int, saving: UInt64) {
        (self.rule, self.ruleName, self.title, self.site, self.saving) = (rule, ruleName, title, site, saving)
        (notes, warnings, errors) = (grade == 0 ? 1 : 0, grade == 1 ? 1 : 0, grade == 2 ? 1 : 0)
    }

    /// The number of recordings in which it occurs.
    package var recordings: UInt64 { notes &+ warnings &+ errors }
}

extension FindingTally: Summed, StartsEmpty {
    package static let parts: [SumPart<FindingTally>] = [
        words, .sum("notes", \.notes), .sum("warnings", \.warnings), .sum("errors", \.errors),
        .sum("saving", \.saving),
    ]

    /// The rule's number and name, the title and the line.
    private static let words = SumPart<FindingTally>(
        name: "finding",
        merge: { whole, other in
            guard !other.rule.isEmpty, whole.rule.isEmpty || other.text.lexicographicallyPrecedes(whole.text)
            else { return }
            (whole.rule, whole.ruleName) = (other.rule, other.ruleName)
            (whole.title, whole.site) = (other.title, other.site)
        },
        store: { whole, words in
            .list([
                .text(whole.rule), .text(whole.ruleName), .text(whole.title), whole.site.stored(&words),
            ])
        },
        restore: { whole, value, words in
            let parts = try value.list(of: 4)
            (whole.rule, whole.ruleName, whole.title) = (try parts[0].text(), try parts[1].text(), try parts[2].text())
            whole.site = try StoredProblem.within("3") { try CallSite?(parts[3], words) }
        })

    private var text: [String] { [rule, ruleName, title, site?.sortText ?? ""] }
}
