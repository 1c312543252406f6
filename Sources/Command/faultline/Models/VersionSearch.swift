import FaultlineDocuments
import FaultlineFindings
import FaultlineModel
import FaultlineReport
import FaultlineStore
import Foundation

/// The versions of models that a store fits.
struct VersionSearch: JSONDocument, Document {
    fileprivate struct Candidate {
        let name: String
        /// The reason why the store does not fit, or `nil` if it does.
        let mismatch: String?
    }

    private let store: String
    private let candidates: [Candidate]

    /// - Throws: ``CommandFailure`` if the file is not a store.
    init(store path: String, models: [NamedModel]) throws {
        store = path
        do {
            candidates = try models.map { named in
                Candidate(
                    name: named.name,
                    mismatch: try PersistentStoreCoordinator.mismatch(
                        of: named.model, withStoreAt: URL(fileURLWithPath: path)))
            }
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }

    /// Whether a version fits.
    var hasFound: Bool { candidates.contains { $0.mismatch == nil } }

    // MARK: - Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        let fitting = candidates.filter { $0.mismatch == nil }.map { "\"\($0.name)\"" }
        let head =
            fitting.isEmpty
            ? "The store \"\(store)\" fits none of \(Phrase.count(UInt64(candidates.count), "version"))."
            : "The store \"\(store)\" fits \(fitting.joined(separator: " and "))."
        let lines = candidates.flatMap { candidate -> [String] in
            guard let mismatch = candidate.mismatch else {
                return ["  \(ink(.green, "✓")) \(Phrase.printable(candidate.name))"]
            }
            return ["  \(ink(.dim, "–")) \(Phrase.printable(candidate.name))"]
                + Phrase.wrapped(Phrase.printable(mismatch + "."), width: width - 4).map { "    " + $0 }
        }
        return TextPage.joined(
            [Phrase.wrapped(Phrase.printable(head), width: width).map { ink(.bold, $0) }, lines], ink)
    }
}

// MARK: - JSON

extension VersionSearch {
    static let name = "model-find"
    static let title = "The version of a store"
    static let summary = "The output of `faultline model find --format json`."
    static let members: JSONMembers<VersionSearch> = [
        .init("store", "The file of the store.", \.store), .init("models", \.candidates),
    ]
}

extension VersionSearch.Candidate: JSONObject {
    static let members: JSONMembers<VersionSearch.Candidate> = [
        .init("name", \.name), .init("fits") { $0.mismatch == nil },
        .init("mismatch", "Why the store does not fit.", \.mismatch),
    ]
}
