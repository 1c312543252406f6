package import FaultlineDocuments
import FaultlineFindings
package import FaultlineModel
import FaultlineReport

/// The differences between two versions of a model, and whether a store can be migrated without a mapping model.
struct VersionComparison: DiagramPrinting {
    private let (old, new): (NamedModel, NamedModel)
    private let differences: [ModelDifference]
    /// `nil` if no mapping can be inferred.
    private let inference: MappingInference?
    /// The reason why no mapping can be inferred.
    private let refusal: ModelError?
    private let renamings: [PossibleRenaming]

    init(from old: NamedModel, to new: NamedModel) {
        (self.old, self.new) = (old, new)
        differences = new.model.differences(from: old.model)
        do throws(ModelError) {
            inference = try MappingInference(from: old.model, to: new.model)
            refusal = nil
        } catch {
            (inference, refusal) = (nil, error)
        }
        renamings =
            inference?.possibleRenamings ?? PossibleRenaming.all(ModelMatching(from: old.model, to: new.model))
    }

    private var needsMigration: Bool { differences.contains(where: \.requiresMigration) }

    // MARK: - Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        var sections = [
            Phrase.wrapped("\(old.name) → \(new.name): \(summary)", width: width).map { ink(.bold, $0) }
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
            ("Changes that need a migration", changes(true)), ("Changes that need no migration", changes(false)),
            (Self.migrationTitle, needsMigration ? migration : []),
        ]
    }

    private var summary: String {
        guard !differences.isEmpty else { return "the two versions are equal." }
        let needed = differences.filter(\.requiresMigration).count
        guard needed > 0 else { return "stores of both are equal, so none needs a migration." }
        return "\(Phrase.count(UInt64(needed), "change")) to stores."
    }

    /// Whether a mapping can be inferred, followed by the warnings.
    private var migration: [String] {
        guard let inference else { return [refusal].compactMap { $0?.message } + renamings.map(\.description) }
        return ["A mapping can be inferred, so a store is migrated by SQL alone."] + renamings.map(\.description)
            + inference.conditions.map(\.sentence) + inference.uncertainties.map(\.sentence)
    }

    private func item(_ text: String, _ ink: Ink, _ width: Int, isWarning: Bool = false) -> [String] {
        let mark = isWarning ? ink(.yellow, "!") : "–"
        return Phrase.wrapped(Phrase.printable(text), width: width - 4).enumerated().map { index, line in
            index == 0 ? "  \(mark) \(line)" : "    \(line)"
        }
    }

    var diagram: ModelDiagram {
        var diagram = ModelDiagram(
            title: "\(old.name) → \(new.name)", facts: summary, of: new.model, since: old.model)
        diagram.sections = parts.map { ModelDiagram.Section($0.title, $0.sentences) }
        return diagram
    }
}

// MARK: - JSON

extension VersionComparison {
    static let name = "model-diff"
    static let title = "The differences between two versions of a model"
    static let summary = "The output of `faultline model diff --format json`."
    static let members: JSONMembers<VersionComparison> = [
        .init("from", "The name of the older version.", \.old.name),
        .init("to", "The name of the newer version.", \.new.name),
        .init("needsMigration", "Whether stores of the older version must be migrated.", \.needsMigration),
        .init("isInferable", "Whether a mapping can be inferred.") { $0.refusal == nil },
        .init("refusal", "Why no mapping can be inferred.") { $0.refusal?.message },
        .init("differences", \.differences),
        .init("conditions", "The conditions that a store's objects must meet.") { $0.inference?.conditions ?? [] },
        .init("uncertainties", "The changes of which nothing shows whether Core Data infers them, too.") {
            $0.inference?.uncertainties ?? []
        },
        .init("possibleRenamings", PossibleRenaming.plural, \.renamings),
    ]
}

extension String {
    /// A part of a sentence as a sentence.
    var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}

extension ModelDifference: JSONObject {
    package static let members: JSONMembers<ModelDifference> = [
        .init("entity", \.entity), .init("element", \.element),
        .init("name", "The property or index; null for the entity itself.", \.name),
        .init("change", \.change.way),
        .optional("setting", "The setting that changed, if `change` is \"changed\".") {
            if case .changed(let setting, _, _) = $0.change { setting } else { nil }
        },
        .optional("from", "The earlier name, entity or value.", \.change.old),
        .optional("to", "The later value.") {
            if case .changed(_, _, let new) = $0.change { new } else { nil }
        },
        .init("requiresMigration", \.requiresMigration),
        .init("text", "The difference as part of a sentence.", \.description),
    ]
}

extension ModelDifference.Element: JSONWord {}
extension ModelDifference.Setting: JSONWord {}

extension ModelDifference.Change {
    fileprivate enum Way: JSONWord {
        case added, removed, renamed, moved, changed
    }

    fileprivate var old: String? {
        switch self {
        case .added, .removed: nil
        case .renamed(let old), .moved(let old), .changed(_, let old, _): old
        }
    }

    fileprivate var way: Way {
        switch self {
        case .added: .added
        case .removed: .removed
        case .renamed: .renamed
        case .moved: .moved
        case .changed: .changed
        }
    }
}

extension PossibleRenaming: JSONObject {
    /// The description of several.
    static let plural = "Pairs of a removed and an added entity or property that may be one under two names."

    package static let members: JSONMembers<PossibleRenaming> = [
        .init("entity", "The entity of a property; null if it is an entity that may have been renamed.", \.entity),
        .init("removed", \.removed), .init("added", \.added),
    ]
}

extension InferenceUncertainty {
    /// The uncertainty as sentences.
    var sentence: String {
        "Faultline converts the values of '\(entity).\(attribute)' from \(old.rawValue) to \(new.rawValue), but whether Core Data infers that is not known: Apple does not say whether Decimal is one of the numeric types that it converts. Try NSMappingModel.inferredMappingModel on a Mac."
    }
}

extension InferenceUncertainty: JSONObject {
    package static let members: JSONMembers<InferenceUncertainty> = [
        .init("entity", \.entity), .init("attribute", \.attribute), .init("from", "The older type.", \.old.rawValue),
        .init("to", "The newer type.", \.new.rawValue), .init("text", \.sentence),
    ]
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
            return "Objects of '\(entity)' become unique by \(list), so no two objects may have the same values."
        }
    }
}

extension MigrationCondition: JSONObject {
    package static let members: JSONMembers<MigrationCondition> = [
        .init("sourceEntity", \.sourceEntity), .init("entity", \.entity), .init("property", \.property),
        .init("text", \.sentence),
    ]
}
