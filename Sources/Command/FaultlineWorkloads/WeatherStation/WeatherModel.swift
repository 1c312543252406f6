import FaultlineModel

/// Both versions of the weather stations' model, and a mapping model between them.
enum WeatherModel {
    static func old() throws -> ManagedObjectModel {
        try model(
            [
                AttributeDescription("time", .date), AttributeDescription("value", .double),
                AttributeDescription("remark", .string),
            ])
    }

    static func new() throws -> ManagedObjectModel {
        try model(
            [
                AttributeDescription("time", .date),
                AttributeDescription("celsius", .double, renamingIdentifier: "value"),
                AttributeDescription("quality", .integer16, defaultValue: 2),
            ],
            [
                EntityDescription(
                    "Alarm",
                    attributes: [AttributeDescription("limit", .double), AttributeDescription("isActive", .boolean)])
            ])
    }

    private static func model(
        _ reading: [AttributeDescription], _ more: [EntityDescription] = []
    ) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: more + [
                EntityDescription(
                    "Station", attributes: [AttributeDescription("name", .string)],
                    relationships: [
                        RelationshipDescription("readings", to: "Reading", inverse: "station", isToMany: true)
                    ]),
                EntityDescription(
                    "Reading", attributes: reading,
                    relationships: [RelationshipDescription("station", to: "Station", inverse: "readings")]),
            ])
    }

    /// - Parameter policy: The policy of the readings' mapping; `nil` for none.
    static func mapping(policy: String?) -> MappingModel {
        MappingModel(entityMappings: [
            EntityMapping(
                "StationToStation", from: "Station", to: "Station",
                attributeMappings: [PropertyMapping("name", .source("name"))],
                relationshipMappings: [
                    PropertyMapping("readings", .destinationInstances(forSourceRelationshipNamed: "readings"))
                ]),
            EntityMapping(
                "ReadingToReading", policy == nil ? .transform : .custom, from: "Reading", to: "Reading",
                attributeMappings: [
                    PropertyMapping("time", .source("time")), PropertyMapping("celsius", .source("value")),
                    PropertyMapping("quality"),
                ],
                relationshipMappings: [
                    PropertyMapping("station", .destinationInstances(forSourceRelationshipNamed: "station"))
                ], entityMigrationPolicyClassName: policy),
        ])
    }
}
