/// The number of recordings in which a finding occurs.
package struct Occurrence: Sendable, Hashable {
    /// The recordings that have the finding when they are examined on their own.
    package let recordings: UInt64
    /// All merged recordings.
    package let all: UInt64

    package init(recordings: UInt64, of all: UInt64) { (self.recordings, self.all) = (recordings, all) }

    /// The recordings as a share of all, from 0 to 1.
    package var share: Double { Double(recordings) / Double(max(1, all)) }

    /// The numbers as words: `3 of 12 recordings`.
    package var wording: Wording { "\(count: recordings) of \(count: all, "recording")" }
}
