internal import FaultlineTrace

/// A library that runs statements for a program, in whose words advice is given.
///
/// Of several on a stack, the first one counts: a mapper runs its statements through others.
package enum StatementLibrary: String, Sendable, CaseIterable {
    /// Django's object-relational mapper.
    case django
    case sqlAlchemy
    case peewee
    case grdb
    /// Active Record, the mapper of Rails.
    case activeRecord
    /// Python without a mapper.
    case python

    /// The library that wrote a log, or `nil` if the recording is none.
    init?(_ source: ProcessBegan.Source?) {
        switch source {
        case .django: self = .django
        case .sqlAlchemy: self = .sqlAlchemy
        case .rails: self = .activeRecord
        case .grdb: self = .grdb
        case .instruments, .sqlDebug, .sqlite, nil: return nil
        }
    }

    /// The library on a stack, or `nil` if it has none.
    init?(_ frames: [FrameEntry]) {
        let found = Set(frames.flatMap { frame in frame.locations.compactMap { Self.library(of: $0, in: frame) } })
        self.init(names: Set(found.map(\.rawValue)))
    }

    /// The library among those in evidence, or `nil` if there is none.
    package init?(names: Set<String>) {
        guard let first = Self.allCases.first(where: { names.contains($0.rawValue) }) else { return nil }
        self = first
    }

    /// Whether a mapper keeps all rows of the result in memory: Django's querysets without `iterator()`, GRDB's `fetchAll`.
    static func keepsAllRows(_ frames: [FrameEntry]) -> Bool {
        frames.contains { frame in
            frame.locations.contains { location in
                frame.isPython
                    ? location.file.contains("/django/") && location.function.hasSuffix("_fetch_all")
                    : isOfGRDB(location.function) && location.function.contains(".fetchAll")
            }
        }
    }

    /// Whether SQLAlchemy reads an object again because it expired: at a commit, a rollback or a call of `expire`.
    static func readsExpired(_ frames: [FrameEntry]) -> Bool {
        frames.contains { frame in
            frame.isPython
                && frame.locations.contains {
                    $0.file.contains("/sqlalchemy/") && $0.function.hasSuffix("_load_expired")
                }
        }
    }

    /// Whether a function is GRDB's own: its types stand in the names of the program's functions, too.
    private static func isOfGRDB(_ function: String) -> Bool {
        function.hasPrefix("GRDB.") || function.contains("(extension in GRDB):GRDB.")
    }

    private static func library(of location: FrameEntry.Location, in frame: FrameEntry) -> StatementLibrary? {
        guard frame.isPython else { return isOfGRDB(location.function) ? .grdb : nil }
        if location.file.contains("/django/") { return .django }
        if location.file.contains("/sqlalchemy/") { return .sqlAlchemy }
        return location.file.hasSuffix("/peewee.py") ? .peewee : .python
    }
}
