import Foundation

/// A recorded timeline, and copies of it in which the events of one operation take longer.
struct ScaledTrace {
    private let lines: [Substring]
    /// The operations with enough events and time, the longest first: what can be scaled.
    let operations: [String]

    /// Events of an operation that is scaled, at least, and its share of the time of all.
    private static let (leastEvents, minimumShare) = (20, 0.05)

    init(_ path: String) throws {
        lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        var sums: [String: (count: Int, time: Double)] = [:]
        for line in lines {
            guard let operation = Self.operation(line), let duration = Self.duration(line) else { continue }
            let sum = sums[operation, default: (0, 0)]
            sums[operation] = (sum.count + 1, sum.time + duration.value)
        }
        let all = sums.values.reduce(0) { $0 + $1.time }
        operations = sums.filter { $0.value.count >= Self.leastEvents && $0.value.time >= all * Self.minimumShare }
            .sorted { ($1.value.time, $0.key) < ($0.value.time, $1.key) }.map(\.key)
    }

    /// Writes the trace with all events of an operation made longer.
    func write(to path: String, scaling operation: String, by factor: Double) throws {
        let text = lines.map { line -> String in
            guard Self.operation(line) == operation, let duration = Self.duration(line) else { return String(line) }
            let scaled = String(format: "%.3f", duration.value * factor)
            return line[..<duration.range.lowerBound] + scaled + line[duration.range.upperBound...]
        }
        try text.joined(separator: "\n").write(toFile: path, atomically: false, encoding: .utf8)
    }

    /// The group of an event: its kind, its entity, and its shape or relationship.
    private static func operation(_ line: Substring) -> String? {
        guard line.hasPrefix("{\"name\":\""), let name = text(line, "\"name\":\""), let kind = text(line, "\"cat\":\""),
            ["fetch", "batch", "fault", "save"].contains(kind)
        else { return nil }
        return [name, number(line, "\"shape\":"), number(line, "\"relationship\":"), number(line, "\"stack\":")]
            .compactMap { $0 }.joined(separator: " ")
    }

    private static func text(_ line: Substring, _ key: String) -> String? {
        guard let start = line.range(of: key)?.upperBound, let end = line[start...].firstIndex(of: "\"") else {
            return nil
        }
        return String(line[start..<end])
    }

    private static func number(_ line: Substring, _ key: String) -> String? {
        guard let start = line.range(of: key)?.upperBound else { return nil }
        return String(line[start...].prefix { $0.isNumber })
    }

    private static func duration(_ line: Substring) -> (value: Double, range: Range<Substring.Index>)? {
        guard let start = line.range(of: "\"dur\":")?.upperBound else { return nil }
        let digits = line[start...].prefix { $0.isNumber || $0 == "." }
        return Double(digits).map { ($0, digits.startIndex..<digits.endIndex) }
    }
}
