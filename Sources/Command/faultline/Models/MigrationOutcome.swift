package import FaultlineDocuments
import FaultlineFindings
package import FaultlineMigration
import FaultlineModel
import FaultlineReport
package import FaultlineStore
import FaultlineTrace
import Foundation

/// A migration of a store, planned or done.
struct MigrationOutcome: DiagramPrinting {
    private let store: String
    private let target: NamedModel
    /// Whether the store already fits.
    let isCurrent: Bool
    /// The version that the store had; `nil` if it already fits.
    private var source: ManagedObjectModel?
    private var preview: MigrationPreview?
    private var differences: [ModelDifference] = []
    private var renamings: [PossibleRenaming] = []
    private var mapping: MappingModel?
    /// The reason why a mapping model's objects are loaded; `nil` if the store is migrated in place.
    private var reasonForLoading: String?
    /// The reasons why the store's rows do not allow the migration, as sentences without a full stop.
    private var obstacles: [String] = []
    private var steps: [MigrationProgress.Step] = []
    /// The steps from version to version; empty if there is only one.
    private var versions: [Version] = []
    private var seconds: Double?
    private var backup: String?

    /// A step from one version to another one.
    fileprivate struct Version {
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
    }

    /// Creates the outcome of a migration that has not run yet.
    ///
    /// - Parameters:
    ///   - preview: A preview of the first step; `nil` if there is none, or if it loads objects.
    ///   - named: The versions whose names are known, beside the target.
    init(
        store: String, _ target: NamedModel, _ route: MigrationRoute, _ preview: MigrationPreview?,
        versions named: [NamedModel]
    ) {
        (self.store, self.target, isCurrent) = (store, target, route.steps.isEmpty)
        guard let first = route.steps.first else { return }
        (source, obstacles) = (route.source, preview?.obstacles ?? [])
        // A property that a step removes and a later one adds is new.
        differences = route.steps.flatMap { $0.new.differences(from: $0.old) }
        guard route.steps.count > 1 else {
            (self.preview, mapping, reasonForLoading) = (preview, first.mapping, first.reasonForLoading)
            renamings = preview?.possibleRenamings ?? []
            return
        }
        renamings = route.steps.flatMap(\.possibleRenamings)
        let names = Dictionary(
            (named + [target]).map { ($0.model.versionChecksum, $0.name) }, uniquingKeysWith: { first, _ in first })
        func name(_ model: ManagedObjectModel) -> String { names[model.versionChecksum] ?? "the store's version" }
        versions = route.steps.map {
            Version(
                old: name($0.old), new: name($0.new), isMapped: $0.mapping != nil,
                reasonForLoading: $0.reasonForLoading)
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

    /// Records the reasons why the store's rows do not allow the migration, if there are any.
    mutating func refuse(_ obstacles: [String]) { self.obstacles = obstacles }

    /// Records that the store was migrated.
    mutating func finish(_ progress: MigrationProgress?, _ time: Swift.Duration, _ backup: URL?) {
        steps = progress?.steps ?? []
        seconds = time / .seconds(1)
        self.backup = backup?.path
    }

    // MARK: - Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        func section(_ title: String, _ lines: [String]) -> [String] {
            lines.isEmpty ? [] : [ink(.bold, title)] + lines
        }
        func items(_ sentences: [String]) -> [String] {
            sentences.flatMap { Phrase.wrapped(Phrase.printable("– " + $0), width: width - 2).map { "  " + $0 } }
        }
        let sections = [
            Phrase.wrapped(Phrase.printable(headline), width: width).map { ink(.bold, $0) },
            section("Steps", items(versions.map(\.sentence))),
            section("Changes", items(differences.filter(\.requiresMigration).map(\.description.asSentence))),
            section("Why the store is not migrated", items(obstacles.map(\.asSentence))),
            section(
                "Possibly renamed",
                items(renamings.map(\.description))),
            section("Objects", objects(width)), section("Mapping", mappings(width)),
            section("Plan", seconds == nil ? plan(width) : []),
            section("Where the time went", seconds == nil ? [] : times(width)), Phrase.wrapped(end, width: width),
        ]
        return TextPage.joined(sections.filter { !$0.isEmpty }, ink)
    }

    private var headline: String {
        if isCurrent { return "The store \"\(Phrase.fileName(store))\" already fits \(target.name)." }
        let place =
            reasonForLoading.map { "object by object because \($0), and by replacing the store" }
            ?? "in place, in one transaction"
        let way =
            !versions.isEmpty
            ? "in \(versions.count) steps, on a copy that then replaces it"
            : mapping == nil ? place : "with a mapping model, \(place)"
        if isRefused { return "The store \"\(Phrase.fileName(store))\" cannot be migrated to \(target.name)." }
        return seconds == nil
            ? "The store \"\(Phrase.fileName(store))\" would be migrated to \(target.name), \(way)."
            : "The store \"\(Phrase.fileName(store))\" was migrated to \(target.name), \(way)."
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
            Phrase.wrapped(Phrase.printable(step.sql + ";"), width: width - 4).enumerated().map {
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
            let kept = backup.map { " The older store is \"\(Phrase.fileName($0))\", in the same folder." } ?? ""
            return "Done in \(Phrase.duration(seconds * 1e9)).\(kept)"
        }
        guard let preview else { return "Nothing was changed." }
        let time = preview.seconds.map { ", in about \(Phrase.duration($0 * 1e9))" } ?? ""
        return
            "The statements process \(Phrase.count(preview.rows, "row"))\(time), and need up to \(Phrase.size(Double(preview.storeBytes))) of free disk space. Nothing was changed."
    }

    // MARK: - Page

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
}

// MARK: - JSON

extension MigrationOutcome {
    static let name = "migrate"
    static let title = "A migration of a store"
    static let summary = "The output of `faultline migrate --format json`."
    static let members: JSONMembers<MigrationOutcome> = [
        .init("store", "The file of the store.", \.store), .init("to", "The name of the newer version.", \.target.name),
        .init(
            "state", "Whether the store already fits, cannot be migrated, would be migrated, or was migrated.", \.state),
        .init("isInferred", "Whether no mapping model is used.") { outcome in
            outcome.mapping == nil && outcome.versions.allSatisfy { !$0.isMapped }
        },
        .init(
            "path",
            "The steps of a migration through several versions, which change a copy of the store; empty if there is only one step.",
            \.versions),
        .init(
            "reasonForLoading",
            "Why a mapping model's objects are loaded and recreated, as part of a sentence; null if the store is migrated in place.",
            \.reasonForLoading),
        .init("differences", "The changes between the two versions that need a migration.") {
            $0.differences.filter(\.requiresMigration).map(\.description)
        },
        .init("obstacles", "Why the store's objects do not allow the migration.", \.obstacles),
        .init("possibleRenamings", PossibleRenaming.plural, \.renamings),
        .init("objects") { $0.preview?.objects ?? [] },
        .init("plan", "The statements, in order.") { $0.preview?.steps ?? [] },
        .init("estimate", "Null with a mapping model, and for a store that already fits.", \.preview),
        .init("steps", "The statements that ran, in order.", \.steps),
        .init("seconds", "How long the migration took; null if nothing was migrated.", \.seconds),
        .init("backup", "The copy of the older store.", \.backup),
    ]

    private enum State: JSONWord {
        case current, refused, planned, migrated
    }

    private var state: State { isCurrent ? .current : isRefused ? .refused : seconds == nil ? .planned : .migrated }
}

extension MigrationOutcome.Version: JSONObject {
    static let members: JSONMembers<MigrationOutcome.Version> = [
        .init("from", "The version before the step.", \.old), .init("to", "The version after the step.", \.new),
        .init("isInferred", "Whether no mapping model is used.") { !$0.isMapped },
        .init(
            "reasonForLoading",
            "Why a mapping model's objects are loaded and recreated, as part of a sentence; null if the step is made in place.",
            \.reasonForLoading),
    ]
}

extension MigrationPreview: JSONObject {
    package static let members: JSONMembers<MigrationPreview> = [
        .init("rows", "The number of rows that the statements process.", \.rows),
        .init("bytes", "The free disk space that the migration needs at most.", \.storeBytes),
        .init("seconds", "The estimated duration, or null if it is not known.", \.seconds),
    ]
}

extension MigrationPreview.Objects: JSONObject {
    package static let members: JSONMembers<MigrationPreview.Objects> = [
        .init("entity", \.entity),
        .init("newEntity", "The entity that the objects get; null if they are removed.", \.newEntity),
        .init("count", \.count),
    ]
}

extension MigrationPreview.Step: JSONObject {
    package static let members: JSONMembers<MigrationPreview.Step> = [
        .init("stage", "The part of the migration: `prepare`, `rows`, `derive`, `index` or `finish`.", \.stage),
        .init("table", "The table of the newer version, or empty.", \.table), .init("sql", \.sql),
    ]
}

extension MigrationProgress.Step: JSONObject {
    package static let members: JSONMembers<MigrationProgress.Step> = [
        .init("stage", "The part of the migration: `prepare`, `rows`, `derive`, `index` or `finish`.", \.stage),
        .init("table", "The table of the newer version, or empty.", \.table), .init("sql", \.sql),
        .init("nanoseconds", \.nanoseconds),
    ]
}
