internal import FaultlineAnalysis
internal import FaultlineReader
internal import FaultlineReport
internal import FaultlineTrace
internal import Synchronization

extension ScopeRecording {
    /// Shared, so that each program is opened only once, however many expectations fail.
    private static let symbols = Mutex(SymbolResolver())

    /// Lists the trips line by line, with the analyzer's advice.
    ///
    /// - Complexity: The first call opens the programs and libraries in the stacks.
    func explanation() -> String {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        let addresses = Set(events.map(\.stack)).compactMap { dictionary.stack($0) }.flatMap(\.addresses)
        let modules = dictionary.modules
        let frames = Self.symbols.withLock { $0.frames(for: addresses.sorted(), modules: modules) }
        for (index, frame) in frames.enumerated() { dictionary.insert(.frame(frame), id: DictionaryID(index + 1)) }
        let trips = TripText(events, dictionary: dictionary).render()
        let advice = self.advice(frames).map { "\n  → \($0)" }.joined()
        return trips + advice
    }

    /// The findings in the work's events, one line each.
    private func advice(_ frames: [FrameEntry]) -> [String] {
        var builder = ProfileBuilder()
        var process: UInt32 = 0
        for message in messages {
            switch message {
            case .began(let began): process = began.process
            case .entry: break
            default: continue
            }
            builder.add(message)
        }
        for (index, frame) in frames.enumerated() {
            builder.add(.entry(process: process, id: DictionaryID(index + 1), .frame(frame)))
        }
        for event in events { builder.add(.event(event)) }
        return Analysis(builder.finish()).findings.filter { $0.saving.trips > 0 }.prefix(3).map { finding in
            finding.title.text + (finding.change.map { ", \($0)" } ?? "") + " (\(finding.rule))"
        }
    }
}
