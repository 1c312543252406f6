internal import FaultlineDocuments
internal import FaultlineFindings
package import FaultlineRules
package import Foundation

/// The savings that trials of a trace's advice have measured, by finding.
package struct MeasuredSavings: Sendable {
    /// The result of trying one finding's change.
    package struct Result: Sendable, Hashable {
        /// The outcome in a word, such as `"confirmed"`.
        package let outcome: String
        /// The measured figures, and remarks on them.
        package let sentences: [String]
    }

    /// The reason why a file is not the JSON of a verification, in words that follow "The verification FILE".
    package struct Problem: Error {
        package let reason: String
    }

    private var results: [String: Result] = [:]

    /// Creates an empty collection.
    package init() {}

    /// The results of a verification.
    package init(_ verification: Verification) {
        for trial in verification.trials {
            results[trial.finding.signature] = Result(
                outcome: trial.outcome.word, sentences: trial.sentences)
        }
    }

    /// Reads what `faultline verify --format json` printed.
    ///
    /// - Throws: ``Problem`` if it is something else.
    package init(json data: Data) throws(Problem) {
        guard let document = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw Problem(reason: "is not JSON")
        }
        guard let trials = document["trials"] as? [[String: Any]] else {
            throw Problem(reason: "has no trials, so it is not the output of \"faultline verify --format json\"")
        }
        guard document["version"] as? Int == Verification.version else {
            throw Problem(reason: "was written by another version of Faultline")
        }
        for trial in trials {
            guard let finding = trial["finding"] as? [String: Any], let signature = finding["signature"] as? String,
                let outcome = trial["outcome"] as? String, let sentences = trial["text"] as? [String]
            else { throw Problem(reason: "has a trial without a finding, an outcome or a text") }
            results[signature] = Result(outcome: outcome, sentences: sentences)
        }
    }

    /// The result for a finding, or `nil` if its change was not tried.
    subscript(finding: Finding) -> Result? { results[finding.signature] }

    /// The number of findings of an analysis that have a result.
    package func count(in analysis: Analysis) -> Int { analysis.findings.count { self[$0] != nil } }
}

extension MeasuredSavings.Result {
    var json: JSONValue {
        .object([("outcome", .string(outcome)), ("sentences", .array(sentences.map { .string($0) }))])
    }
}
