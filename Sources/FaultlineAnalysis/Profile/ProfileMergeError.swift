/// The error for two profiles that cannot be merged.
public struct ProfileMergeError: Error, Sendable, Hashable {
    /// The thresholds that differ, by rule and name: `"R10 minimumSaves"`.
    public let differing: [String]

    /// The reason, in words that follow the files' names: `"were made with different thresholds (R10 minimumSaves)"`.
    public var reason: String { "were made with different thresholds (\(differing.joined(separator: ", ")))" }
}
