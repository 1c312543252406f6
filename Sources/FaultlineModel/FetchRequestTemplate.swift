/// A fetch request that is kept in the model.
///
/// It is kept as the model file has it; what its predicate says is not looked at.
public struct FetchRequestTemplate: Sendable, Hashable {
    public var name: String
    /// The name of the entity whose objects it fetches.
    public var entity: String
    /// What it selects by, in the format language of Core Data's predicates.
    public var predicate: String?
    var origin: Origin

    public init(
        _ name: String, entity: String, predicate: String? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.entity = entity
        self.predicate = predicate
        origin = Origin(fileID, line)
    }
}

/// A property of an entity that holds what a fetch request finds.
public struct FetchedPropertyDescription: Sendable, Hashable {
    public var name: String
    public var isOptional: Bool
    /// The request; in its predicate `$FETCH_SOURCE` is the object.
    public var fetchRequest: FetchRequestTemplate?
    /// Whether synchronisation takes the property along.
    public var isSyncable: Bool
    /// Whatever the model's author noted.
    public var userInfo: [String: String]
    var origin: Origin

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

    /// Where the property is declared: `"Groceries/Model.swift:12"`.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
