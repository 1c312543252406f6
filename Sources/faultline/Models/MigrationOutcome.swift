import FaultlineAnalysis
import FaultlineModel
import FaultlineReport
import FaultlineStore
import FaultlineTrace
import Foundation

/// What a migration of a store will do, or has done.
struct MigrationOutcome: DiagramPrinting {
    /// The version of the JSON's keys; it increases when a key is removed or changes its meaning.
    static let version = 1

    private let store: String
    private let target: NamedModel
    private let isCurrent: Bool
    /// The version that the store had; `nil` if it already fits.
    private var source: ManagedObjectModel?
    private var preview: MigrationPreview?
    private var differences: [ModelDifference] = []
    private var renamings: [PossibleRenaming] = []
    private var mapping: MappingModel?
    /// Why a mapping model's objects are loaded; `nil` if the store is migrated in place.
    private var reasonForLoading: String?
    /// Why the store's rows do not allow the migration, as sentences without a full stop.
    private var obstacles: [String] = []
    private var steps: [MigrationProgress.Step] = []
    /// The steps from version to version; empty if there is only one.
    private var versions: [Version] = []
    private var seconds: Double?
    private var backup: String?

    /// A step from one version to another one.
    private struct Version {
        let old: String
        let new: String
        /// Whether a mapping model describes it.
        let isMapped: Bool
        let reasonForLoading: String?

        /// The step as a sentence: `Moody 2 → Moody 3: inferred.`.
        var sentence: String {
            let way = isMapped ? "with a mapping model" : "inferred"
            return "\(old) → \(new): \(way)" + (reasonForLoading.map { ", object by object because \($0)." } ?? ".")
        }

        var json: JSONValue {
            .sorted([
                "from": .string(old), "to": .string(new), "isInferred": .bool(!isMapped),
                "reasonForLoading": reasonForLoading.map { .string($0) } ?? .null,
            ])
        }
    }

    init(store: String, _ target: NamedModel, isCurrent: Bool) {
        (self.store, self.target, self.isCurrent) = (store, target, isCurrent)
    }

    /// A migration in place, which a mapping model describes or which is inferred.
    init(store: String, _ target: NamedModel, _ preview: MigrationPreview, _ mapping: MappingModel?) {
        self.init(store: store, target, isCurrent: false)
        (self.preview, self.mapping) = (preview, mapping)
        source = preview.source
        (obstacles, renamings) = (preview.obstacles, preview.possibleRenamings)
        differences = target.model.differences(from: preview.source)
    }

    /// A migration with a mapping model that creates each object anew.
    init(store: String, _ target: NamedModel, _ step: MigrationPath.Step, loadingObjectsBecause reason: String) {
        self.init(store: store, target, isCurrent: false)
        (mapping, reasonForLoading) = (step.mapping, reason)
        source = step.old
        differences = target.model.differences(from: step.old)
    }

    /// A migration through several versions.
    ///
    /// - Parameter names: The names of versions by their checksums.
    init(store: String, _ target: NamedModel, _ path: MigrationPath, names: [String: String]) {
        self.init(store: store, target, isCurrent: false)
        versions = path.steps.map { step in
            func name(_ model: ManagedObjectModel) -> String { names[model.versionChecksum] ?? "the store's version" }
            return Version(
                old: name(step.old), new: name(step.new), isMapped: step.mapping != nil,
                reasonForLoading: step.mapping.flatMap {
                    MigrationPreview.needForObjects($0, from: step.old, to: step.new)
                })
        }
        source = path.steps.first?.old
        // A property that a step removes and a later one adds is new.
        differences = path.steps.flatMap { $0.new.differences(from: $0.old) }
        renamings = path.steps.filter { $0.mapping == nil }.flatMap {
            (try? MappingInference(from: $0.old, to: $0.new).possibleRenamings) ?? []
        }
    }

    /// The file of a store's backup: `Library.backup.sqlite` for `Library.sqlite`.
    static func backup(of store: URL) -> URL {
        let (name, suffix) = (store.deletingPathExtension().lastPathComponent, store.pathExtension)
        return store.deletingLastPathComponent().appendingPathComponent(
            "\(name).backup" + (suffix.isEmpty ? "" : "." + suffix))
    }

    /// Whether the store's rows do not allow the migration.
    var isRefused: Bool { !obstacles.isEmpty }

    /// Notes why the store's rows do not allow the migration, if there is a reason.
    mutating func refuse(_ obstacles: [String]) { self.obstacles = obstacles }

    /// Notes that the store was migrated.
    mutating func finish(_ progress: MigrationProgress?, _ time: Swift.Duration, _ backup: URL?) {
        steps = progress?.steps ?? []
        seconds = time / .seconds(1)
        self.backup = backup?.path
    }

    // MARK: Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        func section(_ title: String, _ lines: [String]) -> [String] {
            lines.isEmpty ? [] : [ink(.bold, title)] + lines
        }
        func items(_ sentences: [String]) -> [String] {
            sentences.flatMap { TextTable.wrapped(Phrase.printable("– " + $0), width: width - 2).map { "  " + $0 } }
        }
        let sections = [
            TextTable.wrapped(Phrase.printable(headline), width: width).map { ink(.bold, $0) },
            section("Steps", items(versions.map(\.sentence))),
            section("Changes", items(differences.filter(\.requiresMigration).map(\.description.asSentence))),
            section("Why the store is not migrated", items(obstacles.map(\.asSentence))),
            section(
                "Possibly renamed",
                items(renamings.map(\.description))),
            section("Objects", objects(width)), section("Mapping", mappings(width)),
            section("Plan", seconds == nil ? plan(width) : []),
            section("Where the time went", seconds == nil ? [] : times(width)), TextTable.wrapped(end, width: width),
        ]
        return TextPage.joined(sections.filter { !$0.isEmpty }, ink)
    }

    private var headline: String {
        if isCurrent { return "The store '\(Phrase.fileName(store))' already fits \(target.name)." }
        let place =
            reasonForLoading.map { "object by object because \($0), and by replacing the store" }
            ?? "in place, in one transaction"
        let way =
            !versions.isEmpty
            ? "in \(versions.count) steps, on a copy that then replaces it"
            : mapping == nil ? place : "with a mapping model, \(place)"
        if isRefused { return "The store '\(Phrase.fileName(store))' cannot be migrated to \(target.name)." }
        return seconds == nil
            ? "The store '\(Phrase.fileName(store))' would be migrated to \(target.name), \(way)."
            : "The store '\(Phrase.fileName(store))' was migrated to \(target.name), \(way)."
    }

    private func objects(_ width: Int) -> [String] {
        guard let preview, !preview.objects.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "entity", alignment: .left, losing: .middle), .init(title: "objects", alignment: .right),
            .init(title: "", alignment: .left, losing: .middle),
        ])
        for objects in preview.objects {
            table.add([objects.entity, Phrase.count(UInt64(max(objects.count, 0))), Self.fate(of: objects)])
        }
        return table.lines(width: width - 2).map { "  " + $0 }
    }

    private static func fate(of objects: MigrationPreview.Objects) -> String {
        objects.newEntity.map { $0 == objects.entity ? "kept" : "become \($0)" } ?? "removed"
    }

    private func mappings(_ width: Int) -> [String] {
        guard let mapping else { return [] }
        var table = TextTable([
            .init(title: "mapping", alignment: .left, losing: .middle),
            .init(title: "from", alignment: .left, losing: .middle),
            .init(title: "to", alignment: .left, losing: .middle),
        ])
        for entity in mapping.entityMappings {
            table.add([entity.name, entity.sourceEntityName ?? "–", entity.destinationEntityName ?? "–"])
        }
        return table.lines(width: width - 2).map { "  " + $0 }
    }

    private func plan(_ width: Int) -> [String] {
        (preview?.steps ?? []).flatMap { step in
            TextTable.wrapped(Phrase.printable(step.sql + ";"), width: width - 4).enumerated().map {
                $0 == 0 ? "  \($1)" : "    \($1)"
            }
        }
    }

    private func times(_ width: Int) -> [String] {
        let total = Double(steps.reduce(0) { $0 + $1.nanoseconds })
        guard total > 0 else { return [] }
        var table = TextTable([
            .init(title: "time", alignment: .right), .init(title: "share", alignment: .right),
            .init(title: "statement", alignment: .left, losing: .middle),
        ])
        for step in longest {
            table.add([
                Phrase.duration(step.nanoseconds), Phrase.percent(Double(step.nanoseconds) / total), step.sql,
            ])
        }
        return table.lines(width: width - 2).map { "  " + $0 }
    }

    private var end: String {
        if isCurrent || isRefused { return "Nothing was changed." }
        if let seconds {
            let kept = backup.map { " The older store is '\(Phrase.fileName($0))', in the same folder." } ?? ""
            return "Done in \(Phrase.duration(seconds * 1e9)).\(kept)"
        }
        guard let preview else { return "Nothing was changed." }
        let time = preview.seconds.map { ", in about \(Phrase.duration($0 * 1e9))" } ?? ""
        return
            "The statements go through \(Phrase.count(preview.rows, "row"))\(time), and need up to \(Phrase.size(Double(preview.storeBytes))) of free disk space. Nothing was changed."
    }

    // MARK: Page

    var diagram: ModelDiagram {
        var diagram = ModelDiagram(
            title: "\(Phrase.fileName(store)) → \(target.name)", facts: headline, of: target.model, since: source)
        for objects in preview?.objects ?? [] {
            let name = objects.newEntity ?? objects.entity
            guard let position = diagram.entities.firstIndex(where: { $0.name == name }) else { continue }
            let count = Phrase.count(UInt64(max(objects.count, 0)), "object")
            diagram.entities[position].objects =
                name == objects.entity ? "\(count), \(Self.fate(of: objects))" : "\(count) of \(objects.entity)"
        }
        diagram.sections = [
            ModelDiagram.Section("Why the store is not migrated", obstacles.map(\.asSentence)),
            ModelDiagram.Section("Steps", versions.map(\.sentence)),
            ModelDiagram.Section(
                "Changes", differences.filter(\.requiresMigration).map(\.description.asSentence)),
            ModelDiagram.Section("Possibly renamed", renamings.map(\.description)),
            ModelDiagram.Section("Result", [end]),
            ModelDiagram.Section(
                "Where the time went",
                longest.map { "\(Phrase.duration($0.nanoseconds))  \($0.sql)" }, isCode: true),
            ModelDiagram.Section("Plan", (preview?.steps ?? []).map { $0.sql + ";" }, isCode: true),
        ]
        return diagram
    }

    /// The statements that took longest.
    private var longest: ArraySlice<MigrationProgress.Step> {
        steps.ordered { $0.nanoseconds > $1.nanoseconds }.prefix(10)
    }

    // MARK: JSON

    var json: String {
        JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "store": .string(store), "to": .string(target.name),
            "state": .string(isCurrent ? "current" : isRefused ? "refused" : seconds == nil ? "planned" : "migrated"),
            "isInferred": .bool(mapping == nil && versions.allSatisfy { !$0.isMapped }),
            "path": .array(versions.map(\.json)), "reasonForLoading": reasonForLoading.map { .string($0) } ?? .null,
            "differences": .array(differences.filter(\.requiresMigration).map { .string($0.description) }),
            "obstacles": .array(obstacles.map { .string($0) }),
            "possibleRenamings": .array(renamings.map(\.json)),
            "objects": .array(
                (preview?.objects ?? []).map {
                    .sorted([
                        "entity": .string($0.entity), "newEntity": $0.newEntity.map { .string($0) } ?? .null,
                        "count": .integer($0.count),
                    ])
                }),
            "plan": .array(
                (preview?.steps ?? []).map {
                    .sorted(["stage": .string($0.stage), "table": .string($0.table), "sql": .string($0.sql)])
                }),
            "estimate": preview.map { preview in
                .sorted([
                    "rows": .integer(Int64(preview.rows)), "bytes": .integer(Int64(preview.storeBytes)),
                    "seconds": preview.seconds.map { .number($0) } ?? .null,
                ])
            } ?? .null,
            "steps": .array(
                steps.map {
                    .sorted([
                        "stage": .string($0.stage), "table": .string($0.table), "sql": .string($0.sql),
                        "nanoseconds": .integer(Int64($0.nanoseconds)),
                    ])
                }),
            "seconds": seconds.map { .number($0) } ?? .null, "backup": backup.map { .string($0) } ?? .null,
        ]).indented + "\n"
    }
}
