public import FaultlineTrace

/// A key for evidence about objects: their entity, and a line of the program.
public struct EntitySite: Sendable, Hashable {
    /// The name of the objects' entity.
    public var entity: String
    /// The line, or `nil` if the trace does not have it.
    public var site: CallSite?
}

extension EntitySite: ProfileKey {
    static var hasSpellings: Bool { true }
    var sortText: String { entity + "\u{2}" + (site?.sortText ?? "") }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(entity), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(entity: try parts[0].text(), site: try CallSite?(parts[1], words))
    }
}
