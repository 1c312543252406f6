/// How far an estimated saving can be trusted, and why no further.
public struct Confidence: Sendable, Hashable, Comparable {
    public enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
        case low, medium, high

        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    public let level: Level
    /// A clause that says why the confidence is not high: `"the costs of trips and rows are assumed"`.
    ///
    /// `nil` if it is high.
    public let reason: String?

    public static let high = Confidence(level: .high, reason: nil)

    static func medium(_ reason: String) -> Confidence { Confidence(level: .medium, reason: reason) }

    static func low(_ reason: String) -> Confidence { Confidence(level: .low, reason: reason) }

    /// Compares the levels.
    public static func < (a: Confidence, b: Confidence) -> Bool { a.level < b.level }

    /// The factor for a saving's score when findings are ranked.
    var weight: Double {
        switch level {
        case .low: 0.4
        case .medium: 0.7
        case .high: 1
        }
    }
}
