internal import FaultlineTrace

/// A library that runs statements for a program, in whose words advice is given.
enum StatementLibrary: String, Sendable, CaseIterable {
    /// Django's object-relational mapper.
    case django
    /// Django, when an object's relation is read for the first time.
    case djangoRelation
    case sqlAlchemy
    /// SQLAlchemy, when a relationship of an object is read for the first time.
    case sqlAlchemyRelationship
    case grdb
    /// Python without a mapper.
    case python

    /// The language of a program's code that uses the library.
    var language: String { self == .grdb ? "swift" : "python" }

    /// The library on a stack: the most specific of those with functions there, or `nil` if it has none.
    init?(_ frames: [FrameEntry]) {
        let found = Set(frames.flatMap { frame in frame.locations.compactMap { Self.library(of: $0, in: frame) } })
        let order: [StatementLibrary] = [
            .djangoRelation, .sqlAlchemyRelationship, .django, .sqlAlchemy, .grdb, .python,
        ]
        guard let first = order.first(where: found.contains) else { return nil }
        self = first
    }

    private static func library(of location: FrameEntry.Location, in frame: FrameEntry) -> StatementLibrary? {
        guard frame.isPython else { return location.function.hasPrefix("GRDB.") ? .grdb : nil }
        let file = location.file
        if file.contains("/django/db/models/fields/related_descriptors.py") { return .djangoRelation }
        if file.contains("/django/") { return .django }
        if file.contains("/sqlalchemy/orm/strategies.py") { return .sqlAlchemyRelationship }
        if file.contains("/sqlalchemy/") { return .sqlAlchemy }
        return .python
    }
}
