internal import FaultlineAnalysis
internal import FaultlineTrace

/// Figures of the durations of groups, as far as a trace tells them.
struct GroupTimes {
    /// Whether durations below a millisecond are 0 in the trace.
    private let lacksShort: Bool

    init(_ profile: Profile) {
        lacksShort = profile.allProcesses.lacks(.shortDurations)
    }

    /// A figure of a group's durations; `–` where the trace tells none of them.
    func text(_ group: EventGroup, _ figure: (Distribution) -> UInt64) -> String {
        guard group.durations.count > 0 || group.untimed == 0 else { return "–" }
        let value = figure(group.durations)
        return value == 0 && lacksShort ? "<1 ms" : Phrase.duration(value)
    }

    /// Their sum; `–` as well where each of them is too short for the trace.
    func total(_ group: EventGroup) -> String {
        group.durations.total == 0 && lacksShort ? "–" : text(group) { $0.total }
    }
}
