import FaultlineModel
import FaultlineStore
import Foundation

/// Saves of a few objects each, to replay on a copy: they set existing objects to other values.
struct SaveReplay {
    /// The maximum number of saves in one round.
    private static let maximumSaves: UInt64 = 100

    private let entity: EntitySchema
    private let property: PropertySchema
    private let saves: Int
    private let objectsOfEach: Int
    /// The number of recorded saves.
    let recorded: UInt64

    /// The number of replayed saves.
    var count: UInt64 { UInt64(saves) }
    /// A note on the values that are saved instead of the program's.
    var note: String {
        "Instead of the program's own changes, \(entity.name).\(property.name) was changed in existing objects."
    }

    /// - Parameters:
    ///   - entities: The entities that the program saved.
    ///   - saves: The number of consecutive saves.
    ///   - objects: The number of objects of all these saves.
    /// - Throws: ``Untriable`` if the copy has no such objects that can be changed.
    init(
        _ entities: [String], saves: UInt64, objects: UInt64, recorded: UInt64, _ container: PersistentContainer
    ) throws {
        let schema = container.managedObjectModel.schema
        let known = entities.compactMap { schema.entity(named: $0) }
        let changeable = known.compactMap { entity in
            Self.property(of: entity).map { (entity: entity, property: $0) }
        }
        let context = container.newBackgroundContext()
        let counted = try changeable.map { position in
            (
                position,
                try context.performAndWait { try context.count(for: FetchRequest(entityName: position.entity.name)) }
            )
        }
        let wanted = Int(min(saves, Self.maximumSaves))
        let each = max(1, Int(clamping: objects / max(1, saves)))
        guard let (most, rows) = counted.max(by: { $0.1 < $1.1 }), rows >= 2 * each else {
            throw Untriable("The copy has too few objects of the saved entities.")
        }
        (entity, property) = (most.entity, most.property)
        self.saves = min(wanted, rows / each)
        objectsOfEach = each
        self.recorded = recorded
    }

    /// An attribute without constraints on its values.
    private static func property(of entity: EntitySchema) -> PropertySchema? {
        let unique = Set(entity.uniquenessConstraints.joined())
        let types: [AttributeType] = [.boolean, .double, .float, .date, .integer64, .integer32, .integer16, .string]
        let free = entity.properties.filter {
            !$0.isTransient && !$0.isDerived && $0.limits == nil && !unique.contains($0.index)
        }
        return types.lazy.compactMap { type in free.first { $0.attributeType == type } }.first
    }

    /// Changes the objects and saves them, all at once or a few at a time.
    func run(isJoined: Bool, _ container: PersistentContainer, _ timing: inout Timing) throws {
        let context = container.newBackgroundContext()
        let weight = Double(recorded) / Double(max(1, saves))
        try context.performAndWait {
            let request = FetchRequest<ManagedObject>(entityName: entity.name, fetchLimit: saves * objectsOfEach)
            let objects = Array(try context.fetch(request))
            // The faults fire here, before the clock starts.
            let values = objects.map { Self.other($0.value(forKey: property.name), property.attributeType) }
            for save in 0..<saves {
                for index in save * objectsOfEach..<min(objects.count, (save + 1) * objectsOfEach) {
                    objects[index].setValue(values[index], forKey: property.name)
                }
                if !isJoined { try timing.step(weight: weight) { try context.save() } }
            }
            if isJoined { try timing.step(weight: weight) { try context.save() } }
            context.reset()
        }
    }

    /// Another value of the same type and size.
    private static func other(_ value: Any?, _ type: AttributeType?) -> Any? {
        switch value {
        case let value as Bool: !value
        case let value as Int64: value ^ 1
        case let value as Double: value == 1 ? 2.0 : 1.0
        case let value as Date: value.addingTimeInterval(value.timeIntervalSinceReferenceDate > 0 ? -1 : 1)
        case let value as String: String(value.dropLast()) + (value.hasSuffix("a") ? "b" : "a")
        default:
            switch type {
            case .boolean: true
            case .double, .float: 1.0
            case .date: Date(timeIntervalSinceReferenceDate: 1)
            case .string: "a"
            default: Int64(1)
            }
        }
    }
}
