package import FaultlineRules

extension Verification: JSONDocument {
    package static let name = "verify"
    package static let title = "The results of trying advice"
    package static let summary = "The output of `faultline verify --format json`. Times are in nanoseconds."
    package static let members: JSONMembers<Verification> = [
        .init("store", "The path of the store.", \.store), .init("trials", \.trials),
    ]
}

extension Trial: JSONObject {
    package static let members: JSONMembers<Trial> = [
        .init("finding", \.finding), .init("outcome", \.outcome),
        .init("reason", "Why it was not tried.", \.outcome.reason),
        .init("expected", "The predicted saving of the replayed operations.", \.expected),
        .init("figure", "The measured time that the prediction is about.", \.figure),
        .init("measurement", \.measurement), .init("notes", \.notes),
        .init("text", "The measurements and their consequences, as the text report states them.") {
            VerificationText.sentences($0)
        },
    ]
}

extension Trial.Outcome: JSONWord {
    package static let allCases: [Trial.Outcome] = [
        .confirmed, .nothing, .more, .less, .withdrawn, .unclear, .notTried(""),
    ]

    package var jsonWord: String { word }

    fileprivate var reason: String? { if case .notTried(let reason) = self { reason } else { nil } }
}

extension TrialMeasurement: JSONObject {
    package static let members: JSONMembers<TrialMeasurement> = [
        .init("rounds", \.rounds), .init("operations", \.operations),
        .init("recordedOperations", \.recordedOperations), .init("time", \.time), .init("pause", \.pause),
        .init("before", \.before), .init("after", \.after),
    ]
}

extension TrialMeasurement.Figure: JSONObject {
    package static let definition: String? = "figure"
    package static let summary = "A time before and after the change."
    package static let members: JSONMembers<TrialMeasurement.Figure> = [
        .init("before", \.before), .init("after", \.after), .init("gain", \.gain),
    ]
}

extension TrialMeasurement.Counts: JSONObject {
    package static let members: JSONMembers<TrialMeasurement.Counts> = [.init("trips", \.trips), .init("rows", \.rows)]
}
