internal import FaultlineTrace

/// Detectors that reduce the events of a process together.
struct Detectors: Sendable {
    /// In the order in which they observe each event and finish.
    let all: [any Detector.Type]
    /// The detectors that gather evidence of their own.
    let gathering: [any EvidenceDetector.Type]
    /// The indices in ``all`` of the detectors that observe a kind, by the kind's raw value.
    let observing: [[Int]]

    init(_ all: [any Detector.Type]) {
        self.all = all
        gathering = all.compactMap { $0 as? any EvidenceDetector.Type }
        observing = (0...EventKind.highest).map { number in
            all.indices.filter { position in all[position].kinds.contains { Int($0.rawValue) == number } }
        }
    }
}

extension EventKind {
    /// The highest raw value of a kind, the size of tables by kind.
    static let highest = allCases.map { Int($0.rawValue) }.max() ?? 0

    /// The kinds of events that are a thread's work, as opposed to marks and summaries.
    static let work = Set(allCases.filter(\.isWork))
}
