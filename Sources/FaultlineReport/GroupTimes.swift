internal import FaultlineAnalysis
internal import FaultlineTrace

/// The durations of groups in words, to the precision of the trace.
struct GroupTimes {
    /// Whether the trace has 0 for durations below a millisecond.
    private let lacksShort: Bool

    init(_ profile: Profile) {
        lacksShort = profile.allProcesses.lacks(.shortDurations)
    }

    /// A figure of a group's durations, or `–` if the trace has none of them.
    func text(_ group: EventGroup, _ figure: (Distribution) -> UInt64) -> String {
        text(group.durations, untimed: group.untimed, figure)
    }

    /// A figure of durations, or `–` if the trace has none of them.
    ///
    /// - Parameter untimed: The number of events whose duration the trace does not have.
    func text(_ durations: Distribution, untimed: UInt64 = 0, _ figure: (Distribution) -> UInt64) -> String {
        guard durations.count > 0 || untimed == 0 else { return "–" }
        let value = figure(durations)
        return value == 0 && lacksShort ? "<1 ms" : Phrase.duration(value)
    }

    /// The sum of a group's durations, or `–` if all of them are below the trace's precision.
    func total(_ group: EventGroup) -> String {
        group.durations.total == 0 && lacksShort ? "–" : text(group) { $0.total }
    }
}
