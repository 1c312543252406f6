import FaultlineAnalysis
import FaultlineReport
import FaultlineTrace

/// Collects the events that a finding rests on, and the paths of the program's sources, as a trace is read.
struct FindingEvents {
    /// The number of events that are kept.
    private static let most = 10

    private let basis: EventBasis
    private var processes: [UInt32: ProcessNames] = [:]
    private var printers: [UInt32: EventText] = [:]
    /// The slowest events, the slowest first.
    private var slowest: [(duration: UInt64, line: String)] = []
    private var count: UInt64 = 0
    /// The paths of sources from the debugging information.
    private(set) var sourcePaths: Set<String> = []
    /// The start of the first recording in seconds since 1970, or `nil` if it is unknown.
    private(set) var date: Double?

    init(of finding: Finding) {
        basis = finding.basis
    }

    var events: FindingPage.Events { .init(count: count, slowest: slowest.map(\.line)) }

    mutating func add(_ message: TraceMessage) {
        switch message {
        case .entry(let process, let id, let entry):
            processes[process, default: ProcessNames()].insert(entry, id: id)
            if case .frame(let frame) = entry {
                for location in frame.locations where !location.file.isEmpty { sourcePaths.insert(location.file) }
            }
        case .began(let began) where began.date > 0: date = min(date ?? .infinity, began.date)
        case .event(let event): add(event)
        default: break
        }
    }

    private mutating func add(_ event: TraceEvent) {
        var names = processes[event.process].take() ?? ProcessNames()
        defer { processes[event.process] = names }
        names.observe(event)
        guard names.isEvent(event, of: basis) else { return }
        count += 1
        if slowest.count == Self.most, let last = slowest.last, last.duration >= event.duration { return }
        let lines = printers[event.process, default: EventText(dictionary: names.dictionary)].lines(event)
        // Among equals, the first in the trace comes first.
        let position = slowest.firstIndex { $0.duration < event.duration } ?? slowest.count
        slowest.insert((event.duration, lines[0]), at: position)
        if slowest.count > Self.most { slowest.removeLast() }
    }
}
