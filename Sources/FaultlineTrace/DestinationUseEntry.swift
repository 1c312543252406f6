/// What a program did with the objects that it reached over a to-one relationship: one of the properties that it read.
///
/// No event refers to it: it is told once for all of them, however many objects there are.
public struct DestinationUseEntry: Sendable, Hashable, Codable {
    /// The entity that has the relationship.
    public var entity: String
    public var relationship: String
    /// The property of the object at the other end; `nil`: what is done there is more than is told, since the object was
    /// changed or deleted, or came in another way as well.
    public var property: String?

    public init(entity: String, relationship: String, property: String?) {
        self.entity = entity
        self.relationship = relationship
        self.property = property
    }
}
