/// A property that the program read from objects it reached over a to-one relationship.
///
/// No event refers to it. The recorder writes it once for all objects, however many there are.
public struct DestinationUseEntry: Sendable, Hashable, Codable {
    /// The entity that has the relationship.
    public var entity: String
    /// The relationship.
    public var relationship: String
    /// The property of the destination object; `nil` if the use is not fully recorded, because an object was changed
    /// or deleted, or was also loaded in another way.
    public var property: String?

    /// Creates an entry.
    public init(entity: String, relationship: String, property: String?) {
        self.entity = entity
        self.relationship = relationship
        self.property = property
    }
}
