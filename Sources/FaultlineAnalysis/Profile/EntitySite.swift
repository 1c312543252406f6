public import FaultlineTrace

/// What evidence about objects is kept by: their entity, and a line of the program.
public struct EntitySite: Sendable, Hashable {
    /// The objects' entity, by name.
    public var entity: String
    /// Where it happened to them; `nil`: the trace does not say.
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
