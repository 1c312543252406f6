extension Profile {
    /// The findings of the merged recordings, by signature, or `nil` if not all recordings were examined.
    package var findingTallies: [String: FindingTally]? {
        recordingCount > 0 && recordings.examined == recordingCount ? tables.findings : nil
    }

    /// The profile of one recording with the findings of that recording, which merging adds up.
    package func examined(_ findings: [String: FindingTally]) -> Profile {
        var (tables, recordings) = (tables, recordings)
        tables.findings = findings
        recordings.examined = recordings.count
        return Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere, unread: unread, thresholds: thresholds)
    }

    /// Whether the profile is that of one recording whose findings were not counted.
    package var isUnexamined: Bool { recordingCount == 1 && recordings.examined == 0 }

    /// One recording with the means of all: of the recordings that have a key, for what belongs to a key.
    ///
    /// Rules examine it, so that their thresholds mean the same for any number of recordings. A profile of one recording
    /// is its own mean.
    package var mean: Profile {
        guard recordingCount > 1 else { return self }
        return Profile(
            tables.mean(of: recordingCount), recordings: recordings.mean, lostAnywhere: lostAnywhere / recordingCount,
            unread: unread / recordingCount, thresholds: thresholds)
    }
}
