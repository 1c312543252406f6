import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("Stores written by Core Data are read completely", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CoreDataReadingTests {
    @Test("The tables that Faultline creates for a model equal Core Data's", arguments: CoreDataFixture.all)
    func tables(_ fixture: CoreDataFixture) throws {
        let ours = try fixture.loadModel().schema.statements.filter { $0.hasPrefix("CREATE TABLE") }
        let theirs = try SQLShell.run(
            "SELECT sql FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%' AND name NOT IN ('Z_PRIMARYKEY', 'Z_METADATA', 'Z_MODELCACHE')",
            fixture.copy())
        #expect(ours.sorted() == theirs.sorted())
    }

    @Test("Every value and relationship of every object matches the database", arguments: CoreDataFixture.all)
    func everything(_ fixture: CoreDataFixture) throws {
        let url = try fixture.copy()
        let model = try fixture.loadModel()
        let container = try fixture.open(url)
        let context = container.newBackgroundContext()
        var objects = 0
        for entity in model.entities {
            let lineage = Self.lineage(entity, model)
            let number = try Self.number(entity, url)
            let rows = try SQLShell.cells(
                "SELECT * FROM Z\(lineage[0].name.uppercased()) WHERE Z_ENT = \(number)", url)
            let fetched = try context.fetch(
                FetchRequest<ManagedObject>(entityName: entity.name, includesSubentities: false))
            #expect(fetched.count == rows.count)
            var byKey: [Int64: ManagedObject] = [:]
            for object in fetched { byKey[Self.key(object)] = object }
            for row in rows {
                guard case .integer(let key)? = row["Z_PK"], let object = byKey[key] else {
                    Issue.record("\(entity.name) \(row) was not fetched")
                    continue
                }
                #expect(object.entityName == entity.name)
                for owner in lineage {
                    for attribute in owner.attributes where !attribute.isTransient {
                        let value: Any? =
                            attribute.type == .transformable
                            ? object[AttributeKey<Data?>(attribute.name)] : object[attribute.name]
                        var stored = row["Z" + attribute.name.uppercased()]
                        // A REAL holds 15 digits of a decimal; the remaining digits come from Core Data's conversion.
                        if attribute.type == .decimal, case .real(let number)? = stored {
                            stored = .text(String(format: "%.15g", number))
                        }
                        #expect(try Self.cell(value, attribute.type) == stored, "\(object) \(attribute.name)")
                    }
                    for relationship in owner.relationships {
                        try compare(object, row, relationship, model, url)
                    }
                }
                objects += 1
            }
        }
        let tables = Set(model.entities.map { "Z" + Self.lineage($0, model)[0].name.uppercased() })
        let counts = try tables.map { Int(try SQLShell.run("SELECT COUNT(*) FROM \($0)", url)[0])! }
        #expect(objects == counts.reduce(0, +))
    }

    @Test("The fixtures have the expected number of rows")
    func counts() throws {
        func count(_ fixture: CoreDataFixture, _ table: String) throws -> String {
            try SQLShell.run("SELECT COUNT(*) FROM \(table)", fixture.copy())[0]
        }
        #expect(
            try ["ZBOOK", "ZPAGE", "ZFEEDBACK", "ZWRITER"].map { try count(.books, $0) } == ["52", "4970", "444", "2"])
        #expect(try ["ZCAR", "ZPERSON"].map { try count(.sample1, $0) } == ["125", "20"])
        #expect(try count(.users, "ZUSER") == "12")
    }

    private func compare(
        _ object: ManagedObject, _ row: [String: Cell], _ relationship: RelationshipDescription,
        _ model: ManagedObjectModel, _ url: URL
    ) throws {
        let column = "Z" + relationship.name.uppercased()
        guard relationship.isToMany else {
            let other = object[relationship.name] as? ManagedObject
            #expect(other.map { Cell.integer(Self.key($0)) } ?? .null == row[column], "\(object) \(relationship.name)")
            // The destination's own row determines its entity.
            guard let other else { return }
            let table =
                "Z" + Self.lineage(try #require(model.entity(named: other.entityName)), model)[0].name.uppercased()
            let number = try SQLShell.run("SELECT Z_ENT FROM \(table) WHERE Z_PK = \(Self.key(other))", url)
            #expect(number == [String(try Self.number(try #require(model.entity(named: other.entityName)), url))])
            return
        }
        let destination = try #require(model.entity(named: relationship.destination))
        let inverse = "Z" + (relationship.inverse ?? "").uppercased()
        let order = relationship.isOrdered ? "Z_FOK_" + inverse.dropFirst() : "Z_PK"
        let keys = try SQLShell.run(
            "SELECT Z_PK FROM Z\(Self.lineage(destination, model)[0].name.uppercased()) WHERE \(inverse) = \(Self.key(object)) ORDER BY \(order)",
            url)
        let members: [ManagedObject]
        if relationship.isOrdered {
            members = try #require(object[relationship.name] as? OrderedToMany<ManagedObject>).map { $0 }
        } else {
            members = try #require(object[relationship.name] as? ToMany<ManagedObject>).map { $0 }
        }
        #expect(members.map { String(Self.key($0)) } == keys, "\(object) \(relationship.name)")
    }

    // MARK: - Reading the tables without the store's help

    static func lineage(_ entity: EntityDescription, _ model: ManagedObjectModel) -> [EntityDescription] {
        guard let parent = entity.parent.flatMap({ model.entity(named: $0) }) else { return [entity] }
        return lineage(parent, model) + [entity]
    }

    static func key(_ object: ManagedObject) -> Int64 {
        Int64(object.objectID.uriRepresentation().lastPathComponent.dropFirst())!
    }

    static func number(_ entity: EntityDescription, _ url: URL) throws -> Int64 {
        for name in [entity.name, entity.renamingIdentifier].compactMap({ $0 }) {
            let found = try SQLShell.run("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)'", url)
            if let number = found.first { return Int64(number)! }
        }
        Issue.record("\(entity.name) has no number")
        return 0
    }

    /// Returns the SQLite value that corresponds to an attribute's value.
    private static func cell(_ value: Any?, _ type: AttributeType) throws -> Cell {
        guard let value else { return .null }
        switch type {
        case .integer16, .integer32, .integer64: return .integer(try #require(value as? Int64))
        case .boolean: return .integer(try #require(value as? Bool) ? 1 : 0)
        case .double, .float: return .real(try #require(value as? Double))
        case .date: return .real(try #require(value as? Date).timeIntervalSinceReferenceDate)
        case .decimal: return .text(try #require(value as? Decimal).description)
        case .string: return .text(try #require(value as? String))
        case .uri: return .text(try #require(value as? URL).absoluteString)
        case .uuid: return .blob(withUnsafeBytes(of: try #require(value as? UUID).uuid) { Data($0) })
        case .binary, .transformable: return .blob(try #require(value as? Data))
        case .undefined, .composite: return .null
        }
    }
}
