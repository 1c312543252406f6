package import Foundation

/// The error for a profile file that cannot be read.
public struct ProfileFileError: Error, Sendable, Hashable {
    /// The problem, in words that follow "it": `"is not JSON"`.
    public var reason: String
}

// A profile file is one JSON object:
//
//     {"faultline-profile": 2, "recordings": {…}, "sites": […], "shapes": […], "scopes": […], "groups": […], …}
//
// Call sites, shapes and scopes are each listed once, and referred to by their index in the list. Tables are lists of
// pairs of key and value, with the number of recordings that have the key if it is more than 1. Counts are whole numbers, and times are in nanoseconds. Zeros and empty values are omitted.
// Equal profiles have equal bytes.

extension Profile {
    /// The version of the format, which changes when a member's meaning changes.
    package static let fileVersion: UInt64 = 2
    private static let header = "faultline-profile"

    /// Whether a file is a profile, judged by its beginning.
    ///
    /// - Parameter beginning: The file's first bytes. Some hundred are enough.
    package static func isProfile(_ beginning: some Sequence<UInt8>) -> Bool {
        beginning.lazy.filter { !" \t\r\n".utf8.contains($0) }.starts(with: "{\"\(header)\"".utf8)
    }

    /// The profile as a file, with those of these thresholds that differ from their defaults; see ``fileData()``.
    package func fileData(among all: [Threshold]) throws -> Data {
        var words = ProfileWords()
        guard case .record(var members) = tables.stored(&words) else { return Data() }
        members.merge(tables.evidence.stored(&words)) { _, evidence in evidence }
        members["recordings"] = recordings.stored(&words)
        members["lostAnywhere"] = StoredValue(lostAnywhere)
        members["unread"] = StoredValue(unread)
        if thresholds != Thresholds() { members["thresholds"] = thresholds.stored(among: all) }
        members.merge(words.stored) { _, words in words }
        // The header comes first, because ``isProfile(_:)`` looks only at the beginning.
        let rest = try StoredValue.record(members).json().dropFirst()
        return Data("{\"\(Self.header)\":\(Self.fileVersion),".utf8) + rest + Data("\n".utf8)
    }

    /// Reads a profile file with the evidence of these detectors and these thresholds; see ``init(fileData:)``.
    package init(
        fileData data: Data, _ detectors: Detectors, among thresholds: () -> [Threshold]
    ) throws(ProfileFileError) {
        let file: StoredValue
        do {
            file = try StoredParser.value(of: data)
        } catch {
            throw ProfileFileError(reason: "is not JSON, or is cut short")
        }
        guard case .record(let members) = file, let version = try? members[Self.header]?.count() else {
            throw ProfileFileError(reason: "is JSON without \"\(Self.header)\"")
        }
        guard version <= Self.fileVersion else {
            throw ProfileFileError(
                reason:
                    "was made by a later version of faultline (format \(version); this version reads formats up to "
                    + "\(Self.fileVersion))"
            )
        }
        do {
            let words = try ProfileWords(file)
            var tables = ProfileTables()
            try tables.restore(file, words)
            tables.evidence = try EvidenceStore(file, of: detectors, words)
            let recordings = try file.member("recordings") { try RecordingTable($0, words) }
            self.init(
                tables, recordings: recordings,
                lostAnywhere: try file.member("lostAnywhere") { try $0.count() },
                unread: try file.member("unread") { try $0.count() },
                thresholds: try file.member("thresholds") { try Thresholds($0, among: thresholds) })
        } catch let problem as StoredProblem {
            throw ProfileFileError(reason: "is damaged: \(problem.sentence)")
        } catch {
            throw ProfileFileError(reason: "is damaged")
        }
    }
}
