package import FaultlineFindings
package import FaultlineProfile
package import FaultlineRules
package import FaultlineTrace

extension Finding: JSONObject {
    package static let definition: String? = "finding"
    package static let summary = "A piece of advice."
    package static let members: JSONMembers<Finding> = [
        .init(
            "rule", "The rule's number, such as `R01`.", limits: [("pattern", .string("^[RS][0-9]{2}$"))], \.rule),
        .init("ruleName", \.ruleName),
        .init("title", "The change to make, in the imperative.", \.title.text),
        .init("severity", \.severity),
        .share("share", "The time saved, as a share of the run, or of all merged recordings.", \.share),
        .init("confidence", "How far the saving can be trusted.", \.confidence.level),
        .init("confidenceReason", "Why it can be trusted no further.", \.confidence.reason),
        .init(
            "occurrence",
            "In how many of the merged recordings it occurs; null for one recording and if that is not known.",
            \.occurrence),
        .init("change", "The line to change, or null if the trace does not have it.", \.change),
        .init("seenAt", "Where the problem was observed.", \.seenAt),
        .init("samples", "Examples of the events, the slowest first.", \.samples),
        .init("scopes", "The names of the scopes in which the problem was observed.", \.scopes),
        .init("evidence", "The numbers that the finding is based on.", \.evidence),
        .init("batchCurve", \.batchCurve),
        .init("explanation", "Sentences that explain the evidence.") { $0.explanation.map(\.text) },
        .init("fix", "The change, as a sentence.", \.fix.text),
        .init("alternatives", "Other changes, as sentences.") { $0.alternatives.map(\.text) },
        .init("code", "The code to write, line by line.", \.code),
        .init("saving", \.saving),
        .init("try", "The argument of `record --try` that makes the change.") { $0.advice?.description },
        .init("reservations", "Why the finding is less severe than its evidence.") { $0.reservations.map(\.text) },
        .init("signature", "The finding's name, which stays the same when other code changes.", \.signature),
    ]
}

extension Occurrence: JSONObject {
    package static let definition: String? = "occurrence"
    package static let summary =
        "The recordings with a finding. All its other figures are means of one of these recordings."
    package static let members: JSONMembers<Occurrence> = [
        .init("recordings", "The recordings that have the finding when examined on their own.", \.recordings),
        .init("of", "All merged recordings.", \.all),
    ]
}

extension Severity: JSONWord {
    package var jsonWord: String { name }
}

extension Confidence.Level: JSONWord {}

extension Finding.Sighting: JSONObject {
    package static let members: JSONMembers<Finding.Sighting> = [
        .init("site", \.site), .init("count", \.count),
        .init("time", "The time spent there, or 0 if it was not measured, in nanoseconds.", \.time),
    ]
}

extension EventSample: JSONObject {
    package static let members: JSONMembers<EventSample> = [
        .init("process", \.process), .init("event", "The event's number.", \.event),
        .init("duration", "The event's duration, in nanoseconds.", \.duration),
    ]
}

extension Evidence: JSONObject {
    package static let members: JSONMembers<Evidence> = [
        .init("name", \.name), .init("value", \.value), .init("unit", \.unit),
    ]
}

extension Evidence.Unit: JSONWord {}

extension BatchCurve: JSONObject {
    package static let definition: String? = "batchCurve"
    package static let summary = "The cost of each batch size."
    package static let members: JSONMembers<BatchCurve> = [
        .init("current", "The batch size in use.", \.current), .init("advised", "The advised batch size.", \.advised),
        .init("plateau", "The sizes that take about the same total time.", \.plateau), .init("points", \.points),
    ]
}

extension BatchCurve.Point: JSONObject {
    package static let members: JSONMembers<BatchCurve.Point> = [
        .init("batchSize", "0 for no batches.", \.batchSize), .init("cost", "In nanoseconds.", \.cost),
        .init("wait", "In nanoseconds.", \.wait), .init("memory", "In bytes.", \.memory),
    ]
}

extension Saving: JSONObject {
    package static let definition: String? = "saving"
    package static let summary = "The predicted saving of a change."
    package static let members: JSONMembers<Saving> = [
        .init(
            "time", "The time saved in the store over the whole trace, after the findings before this one.", \.time),
        .init("alone", "The saving of the change alone, if other findings claim the same time.", \.alone),
        .init("after", "The numbers of the findings that save part of the same time or of the same waits.", \.after),
        .init("pause", "The reduction of the longest wait per screen.", \.pause),
        .init("trips", "Round trips; a negative number is an additional cost.", \.trips),
        .init("rows", "Rows that are no longer loaded.", \.rows),
        .init("bytes", "Bytes that are no longer read.", \.bytes),
        .init("memory", "Bytes of peak memory that are no longer needed.", \.memory),
    ]
}

extension Saving.Range: JSONObject {
    package static let definition: String? = "range"
    package static let summary = "A time in nanoseconds, and the range that holds 80 % of its estimates."
    package static let members: JSONMembers<Saving.Range> = [
        .init("median", \.median), .init("low", \.low), .init("high", \.high),
    ]
}

extension CallSite: JSONObject {
    package static let definition: String? = "site"
    package static let summary = "A line of the program."
    package static let members: JSONMembers<CallSite> = [
        .init(
            "file",
            "The compiler's name of the file, such as `Groceries/List.swift`, or a path; empty if only the function is known.",
            \.file),
        .init("line", "0 if it is not known.") { Int($0.line) },
        .init("function", "Empty if it is not known.", \.function),
        .init("text", "The site as reports print it: `List.swift:42`.", \.description),
    ]
}

extension UnexplainedWork: JSONObject {
    package static let definition: String? = "unexplained"
    package static let summary = "An operation that takes much of the run, and that no finding explains."
    package static let members: JSONMembers<UnexplainedWork> = [
        .init("group", "Its events from all lines, under the line that spent the most time.", \.group),
        .init("otherSites", "The other lines, the one with the most time first.", \.otherSites),
        .init("share", "Its time as a share of the whole.", \.share),
        .init("whole", "The time that the share refers to: the run, or the time in the store.", \.whole),
        .init("explanation", "Sentences about its time, its counts and its plan.") { $0.explanation.map(\.text) },
    ]
}

extension UnexplainedWork.Whole: JSONWord {}
