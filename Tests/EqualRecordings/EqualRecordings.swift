internal import FaultlineFindings
package import FaultlineProfile
package import FaultlineRules
internal import FaultlineTrace
internal import Foundation

/// Recordings that differ only in their identities, and what their sum shows beside one of them.
package struct EqualRecordings {
    private let file: String
    private let identities: [String]
    package let one: Analysis

    /// - Parameter profile: The profile of one recording.
    package init(of profile: Profile) throws {
        file = String(decoding: try profile.fileData(), as: UTF8.self)
        identities = profile.recordingIdentities.map { String($0, radix: 16) }
        one = Analysis(profile)
    }

    /// A recording with an identity of its own, read from a profile file.
    ///
    /// - Parameter number: 0 for the recording itself.
    package func copy(_ number: UInt64) throws -> Profile {
        var text = file
        for identity in identities where number > 0 {
            let other = String(StableHash.mix((UInt64(identity, radix: 16) ?? 0) ^ number), radix: 16)
            text = text.replacingOccurrences(of: "\"\(identity)\"", with: "\"\(other)\"")
        }
        return try Profile(fileData: Data(text.utf8))
    }

    /// The sum of a number of copies.
    package func sum(of copies: UInt64) throws -> Profile {
        var sum = Profile()
        for number in 0..<copies { try sum.merge(copy(number)) }
        return sum
    }

    /// What the sum of some copies shows otherwise than one of them, as sentences.
    package func differences(of copies: UInt64) throws -> [String] {
        let sum = Analysis(try sum(of: copies))
        let (before, after) = (Self.bySignature(one), Self.bySignature(sum))
        var found: [String] = []
        for signature in Set(before.keys).union(after.keys).sorted() {
            guard let first = before[signature] else {
                found.append("\(signature) is found in the sum alone")
                continue
            }
            guard let second = after[signature] else {
                found.append("\(signature) is lost")
                continue
            }
            found += Self.differences(first, second, copies).map { "\(signature): \($0)" }
        }
        if one.quality?.severity != sum.quality?.severity {
            found.append("quality is \(text(sum.quality?.severity)), not \(text(one.quality?.severity))")
        }
        let (works, sumWorks) = (one.unexplained.map(\.group.key.sortText), sum.unexplained.map(\.group.key.sortText))
        if Set(works) != Set(sumWorks) { found.append("not explained: \(sumWorks), not \(works)") }
        return found
    }

    private static func bySignature(_ analysis: Analysis) -> [String: Finding] {
        Dictionary(analysis.findings.map { ($0.signature, $0) }) { first, _ in first }
    }

    private static func differences(_ first: Finding, _ second: Finding, _ copies: UInt64) -> [String] {
        var found: [String] = []
        func compare<Value: Equatable>(_ name: String, _ value: (Finding) -> Value) {
            if value(first) != value(second) { found.append("\(name) \(value(second)), not \(value(first))") }
        }
        compare("rule", \.rule)
        compare("line", \.change)
        compare("severity", \.severity)
        compare("title", \.title.text)
        compare("trips", \.saving.trips)
        compare("rows", \.saving.rows)
        compare("bytes", \.saving.bytes)
        let (expected, saved) = (first.ownSaving.median, second.ownSaving.median)
        // Costs are fitted to a sample of the trips, which is another one in the sum.
        if abs(saved - expected) > max(10_000, expected / 4) { found.append("saving \(saved), not \(expected)") }
        if copies > 1, second.occurrence != Occurrence(recordings: copies, of: copies) {
            found.append("occurs in \(second.occurrence?.wording.text ?? "unknown recordings")")
        }
        return found
    }

    private func text(_ severity: Severity?) -> String { severity?.name ?? "none" }
}
