import FaultlineAnalysis
import Foundation

/// Checks the resource limits of this process, which the programs it runs inherit.
struct LimitChecks: Examination {
    private static let fileSize = Subject(
        name: "file size", why: "No trace and no file of ring buffers can be larger.")
    private static let openFiles = Subject(
        name: "open files", why: "The recorder uses descriptors of at least 512, apart from the program's.")
    private static let lockedMemory = Subject(
        name: "locked memory", why: "Faultline locks no memory.")

    /// Space for several million events, at about 150 MB per million.
    private static let comfortableFile: UInt64 = 1 << 30
    private static let descriptorsApart: UInt64 = 512

    var silence: Check { Self.fileSize.failed("cannot read the limits", "") }

    func checks() -> [Check] {
        [
            fileSize(Self.limit(RLIMIT_FSIZE)), openFiles(Self.limit(RLIMIT_NOFILE)),
            lockedMemory(Self.limit(__RLIMIT_MEMLOCK)),
        ]
    }

    /// The soft limit, or `nil` if there is none.
    private static func limit(_ resource: __rlimit_resource) -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != .max else { return nil }
        return UInt64(limit.rlim_cur)
    }

    private func fileSize(_ limit: UInt64?) -> Check {
        guard let limit else { return Self.fileSize.ok("unlimited") }
        let size = Phrase.size(Double(limit))
        guard limit < Self.comfortableFile else { return Self.fileSize.ok(size) }
        return Self.fileSize.warning(
            "\(size), and a million events take 150 MB", "Raise it.", command: "ulimit -f unlimited")
    }

    private func openFiles(_ limit: UInt64?) -> Check {
        guard let limit else { return Self.openFiles.ok("unlimited") }
        guard limit <= Self.descriptorsApart else { return Self.openFiles.ok(Phrase.count(limit)) }
        return Self.openFiles.warning(
            "\(Phrase.count(limit)), which leaves none of at least 512", "Raise it.", command: "ulimit -n 1024")
    }

    private func lockedMemory(_ limit: UInt64?) -> Check {
        Self.lockedMemory.ok((limit.map { Phrase.size(Double($0)) } ?? "unlimited") + "; Faultline locks none")
    }
}
