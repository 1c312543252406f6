/// A fetch request in the model.
///
/// It is kept as written in the model file; its predicate is not parsed.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the entity whose objects it fetches.
    public var entity: String
    /// The predicate in Core Data's format.
    public var predicate: String?
    var origin: Origin

    /// Creates a template for a fetch of an entity's objects.
    public init(
        _ name: String, entity: String, predicate: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.entity = entity
        self.predicate = predicate
        origin = Origin(fileID, line)
    }
}

/// A property of an entity whose objects are found by a fetch request.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The name, unique among the properties of the entity.
    public var name: String
    /// Whether the model marks the property as optional.
    public var isOptional: Bool
    /// The request; in its predicate `$FETCH_SOURCE` is the object.
    public var fetchRequest: FetchRequestTemplate?
    /// Whether the property is synchronized.
    public var isSyncable: Bool
    /// The notes of the model's author.
    public var userInfo: [String: String]
    var origin: Origin

    /// Creates a fetched property.
    public init(
        _ name: String, fetchRequest: FetchRequestTemplate?, isOptional: Bool = true, isSyncable: Bool = true,
        userInfo: [String: String] = [:], fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.isOptional = isOptional
        self.fetchRequest = fetchRequest
        self.isSyncable = isSyncable
        self.userInfo = userInfo
        origin = Origin(fileID, line)
    }

    /// The line that declares the property: `"Groceries/Model.swift:12"`.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
