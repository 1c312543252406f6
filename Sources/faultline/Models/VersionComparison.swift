import FaultlineAnalysis
import FaultlineModel
import FaultlineReport

/// What changed between two versions of a model, and whether a store can be migrated without a mapping model.
struct VersionComparison: DiagramPrinting {
    /// The version of the JSON's keys; it increases when a key is removed or changes its meaning.
    static let version = 1

    private let (old, new): (NamedModel, NamedModel)
    private let differences: [ModelDifference]
    /// `nil` if no mapping can be inferred.
    private let inference: MappingInference?
    /// Why no mapping can be inferred.
    private let refusal: ModelError?

    init(from old: NamedModel, to new: NamedModel) {
        (self.old, self.new) = (old, new)
        differences = new.model.differences(from: old.model)
        do throws(ModelError) {
            inference = try MappingInference(from: old.model, to: new.model)
            refusal = nil
        } catch {
            (inference, refusal) = (nil, error)
        }
    }

    private var needsMigration: Bool { differences.contains(where: \.requiresMigration) }

    // MARK: Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        var sections = [
            TextTable.wrapped("\(old.name) → \(new.name): \(summary)", width: width).map { ink(.bold, $0) }
        ]
        for (title, sentences) in parts where !sentences.isEmpty {
            // The first sentence about the migration says whether it can be inferred.
            let isAboutMigration = title == Self.migrationTitle
            let items = sentences.enumerated().flatMap { item($1, ink, width, isWarning: isAboutMigration && $0 > 0) }
            sections.append([ink(.bold, title)] + items)
        }
        return TextPage.joined(sections, ink)
    }

    private static let migrationTitle = "Migration"

    /// The changes and their consequences, as sentences under titles.
    private var parts: [(title: String, sentences: [String])] {
        func changes(_ isNeeded: Bool) -> [String] {
            differences.filter { $0.requiresMigration == isNeeded }.map(\.description.asSentence)
        }
        return [
            ("Changes that need a migration", changes(true)), ("Changes that stores do not see", changes(false)),
            (Self.migrationTitle, needsMigration ? migration : []),
        ]
    }

    private var summary: String {
        guard !differences.isEmpty else { return "the two versions are equal." }
        let needed = differences.filter(\.requiresMigration).count
        guard needed > 0 else { return "stores of both are equal, so none has to be migrated." }
        return "\(Phrase.count(UInt64(needed), "change")) to stores."
    }

    /// Whether a mapping can be inferred, and then what to look out for.
    private var migration: [String] {
        guard let inference else { return [refusal].compactMap { $0?.message } }
        return ["A mapping can be inferred, so a store is migrated by SQL alone."]
            + inference.possibleRenamings.map(\.description) + inference.conditions.map(\.sentence)
    }

    private func item(_ text: String, _ ink: Ink, _ width: Int, isWarning: Bool = false) -> [String] {
        let mark = isWarning ? ink(.yellow, "!") : "–"
        return TextTable.wrapped(Phrase.printable(text), width: width - 4).enumerated().map { index, line in
            index == 0 ? "  \(mark) \(line)" : "    \(line)"
        }
    }

    var diagram: ModelDiagram {
        var diagram = ModelDiagram(
            title: "\(old.name) → \(new.name)", facts: summary, of: new.model, since: old.model)
        diagram.sections = parts.map { ModelDiagram.Section($0.title, $0.sentences) }
        return diagram
    }

    // MARK: JSON

    var json: String {
        JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "from": .string(old.name), "to": .string(new.name),
            "needsMigration": .bool(needsMigration), "isInferable": .bool(refusal == nil),
            "refusal": refusal.map { .string($0.message) } ?? .null,
            "differences": .array(differences.map(\.json)),
            "conditions": .array((inference?.conditions ?? []).map(\.json)),
            "possibleRenamings": .array(
                (inference?.possibleRenamings ?? []).map(\.json)),
        ]).indented + "\n"
    }
}

extension String {
    /// A part of a sentence as a sentence.
    var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}

extension ModelDifference {
    /// The difference as JSON: its parts, and its sentence.
    var json: JSONValue {
        var members: [String: JSONValue] = [
            "entity": .string(entity), "element": .string(element.rawValue), "text": .string(description),
            "name": name.map { .string($0) } ?? .null, "requiresMigration": .bool(requiresMigration),
        ]
        switch change {
        case .added: members["change"] = .string("added")
        case .removed: members["change"] = .string("removed")
        case .renamed(let old):
            members["change"] = .string("renamed")
            members["from"] = .string(old)
        case .moved(let old):
            members["change"] = .string("moved")
            members["from"] = .string(old)
        case .changed(let setting, let old, let new):
            members["change"] = .string("changed")
            members["setting"] = .string(setting.rawValue)
            members["from"] = .string(old)
            members["to"] = .string(new)
        }
        return .sorted(members)
    }
}

extension PossibleRenaming {
    var json: JSONValue {
        .sorted([
            "entity": entity.map { .string($0) } ?? .null, "removed": .string(removed), "added": .string(added),
        ])
    }
}

extension MigrationCondition {
    /// The condition as a sentence about a store.
    var sentence: String {
        let path = property.map { "\(entity).\($0)" } ?? entity
        switch requirement {
        case .noObjects:
            return
                "'\(path)' is required and has no default value, so a store must have no object of '\(sourceEntity)'; give it a default value, or make it optional."
        case .noObjectsOfAbstractEntity:
            return "'\(path)' becomes abstract, so a store must have no object of '\(sourceEntity)'."
        case .noMissingValues:
            return
                "'\(path)' becomes required without a default value, so no object of '\(sourceEntity)' may lack a value."
        case .valuesFit(let type, _):
            return "The type of '\(path)' becomes \(type.rawValue), so all of its values must fit."
        case .unique(let properties):
            let list = properties.map { "'\($0)'" }.joined(separator: " and ")
            return "Objects of '\(entity)' become unique by \(list), so no two objects may have the same."
        }
    }

    fileprivate var json: JSONValue {
        .sorted([
            "sourceEntity": .string(sourceEntity), "entity": .string(entity),
            "property": property.map { .string($0) } ?? .null, "text": .string(sentence),
        ])
    }
}
