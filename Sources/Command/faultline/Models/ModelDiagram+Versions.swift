import FaultlineModel
import FaultlineReport
import FaultlineTrace

extension ModelDiagram {
    /// The diagram of a version or, with an older one, of the changes since.
    ///
    /// - Parameters:
    ///   - model: The version.
    ///   - old: The older version; its removed parts are shown too.
    init(title: String, facts: String, of model: ManagedObjectModel, since old: ManagedObjectModel? = nil) {
        self.init(title: title, facts: facts)
        let differences = old.map { model.differences(from: $0) } ?? []
        let gone = Set(differences.filter { $0.change == .removed }.map(\.path))
        entities = model.entities.map { Entity($0) }
        let removed = (old?.entities ?? []).filter { gone.contains($0.name) && model.entity(named: $0.name) == nil }
        entities += removed.map { Entity($0) }
        lines = Self.lines(model.entities)
        if let old { addRemoved(old, differences, removed.map(\.name)) }
        for difference in differences { mark(difference) }
        entities.sort { $0.name < $1.name }
    }

    /// Adds the properties that continuing entities have lost, and the lines of all removed relationships.
    private mutating func addRemoved(
        _ old: ManagedObjectModel, _ differences: [ModelDifference], _ removed: [String]
    ) {
        for difference in differences where difference.change == .removed {
            guard let name = difference.name, !removed.contains(difference.entity),
                let position = entities.firstIndex(where: { $0.name == difference.entity })
            else { continue }
            // A renamed entity has its older name in the older model.
            let older =
                old.entity(named: difference.entity)
                ?? old.entities.first { entity in
                    differences.contains { $0.entity == difference.entity && $0.change == .renamed(from: entity.name) }
                }
            let lost = older.map { Entity($0).properties } ?? []
            let isRelationship = difference.element == .relationship
            entities[position].properties += lost.filter { $0.name == name && $0.isRelationship == isRelationship }
        }
        let known = Set(entities.map(\.name))
        let lost = Set(
            differences.filter { $0.change == .removed && $0.element == .relationship }.map(\.path)
                + removed.flatMap { name in
                    (old.entity(named: name)?.relationships ?? []).map { "\(name).\($0.name)" }
                })
        var names: [String: String] = [:]
        for difference in differences where difference.element == .entity {
            if case .renamed(let before) = difference.change { names[before] = difference.entity }
        }
        let lines = Self.lines(old.entities).map { line in
            var line = line
            line.source = names[line.source] ?? line.source
            line.destination = names[line.destination] ?? line.destination
            return line
        }
        for var line in lines where known.contains(line.source) && known.contains(line.destination) {
            let ends = ["\(line.source).\(line.name)", "\(line.destination).\(line.inverse ?? "")"]
            guard ends.contains(where: lost.contains) else { continue }
            line.mark = .removed
            self.lines.append(line)
        }
    }

    private mutating func mark(_ difference: ModelDifference) {
        guard let position = entities.firstIndex(where: { $0.name == difference.entity }) else { return }
        let mark: Mark =
            switch difference.change {
            case .added: .added
            case .removed: .removed
            default: .changed
            }
        let sentence = difference.description.asSentence
        switch difference.element {
        case .entity:
            entities[position].mark = mark
            entities[position].changes.append(sentence)
            guard mark != .changed else { return }
            for index in entities[position].properties.indices { entities[position].properties[index].mark = mark }
        case .index:
            entities[position].mark = entities[position].mark ?? .changed
            entities[position].changes.append(sentence)
        case .attribute, .relationship:
            entities[position].mark = entities[position].mark ?? .changed
            let isRelationship = difference.element == .relationship
            // A property can be replaced by one of another kind with the same name; removed ones come last.
            let found = entities[position].properties.indices.filter {
                let property = entities[position].properties[$0]
                return property.name == difference.name && property.isRelationship == isRelationship
            }
            guard let index = mark == .removed ? found.last : found.first else { return }
            entities[position].properties[index].mark = mark
            entities[position].properties[index].changes.append(sentence)
            guard isRelationship, mark != .removed else { return }
            for line in lines.indices where lines[line].mark != .removed {
                let isEnd =
                    lines[line].source == difference.entity && lines[line].name == difference.name
                    || lines[line].destination == difference.entity && lines[line].inverse == difference.name
                if isEnd, lines[line].mark != .added { lines[line].mark = mark }
            }
        }
    }

    /// The relationships of entities, each pair once.
    private static func lines(_ entities: [EntityDescription]) -> [Line] {
        var lines: [Line] = []
        for entity in entities {
            for relationship in entity.relationships {
                let end = entities.first { $0.name == relationship.destination }
                let inverse = relationship.inverse.flatMap { name in end?.relationships.first { $0.name == name } }
                if lines.contains(where: {
                    $0.source == relationship.destination && $0.name == relationship.inverse
                        && $0.destination == entity.name && $0.inverse == relationship.name
                }) {
                    continue
                }
                lines.append(
                    Line(
                        source: entity.name, destination: relationship.destination, name: relationship.name,
                        inverse: relationship.inverse, isToMany: relationship.isToMany,
                        comesFromMany: inverse?.isToMany ?? false))
            }
        }
        return lines
    }
}

extension ModelDiagram.Entity {
    init(_ entity: EntityDescription) {
        self.init(name: entity.name, parent: entity.parent, isAbstract: entity.isAbstract)
        properties = entity.attributes.ordered(on: \.name).map {
            ModelDiagram.Property(name: $0.name, words: ModelListing.words($0), isRelationship: false)
        }
        properties += entity.relationships.ordered(on: \.name).map {
            ModelDiagram.Property(name: $0.name, words: ModelListing.words($0), isRelationship: true)
        }
    }
}
