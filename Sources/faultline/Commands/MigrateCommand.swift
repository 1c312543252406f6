import ArgumentParser
import FaultlineModel
import FaultlineReport
import FaultlineStore
import Foundation

/// Migrates a store to another version of its model.
struct MigrateCommand: ParsableCommand, PrintingCommand {
    static let document = Document.other
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to another version of its model.",
        discussion: """
            faultline migrate Library.sqlite --to Library.xcdatamodeld --dry-run
            faultline migrate Library.sqlite --to Library.xcdatamodeld --keep-backup

            What names and renaming identifiers tell is done in SQL, in place and in one transaction, and so is a mapping model \
            that only copies objects and values. Any other mapping model creates each object anew, in a second file that then \
            replaces the store. If anything fails, the store stays as it was. Close all programs that have the store open. The \
            exit status is 1 if the store's rows do not allow the migration.
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The version to migrate to: an .xcdatamodel, or an .xcdatamodeld for its current version.",
            valueName: "model"),
        completion: .file())
    var to: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A version that the store may have, if it is not beside the other one. Can be repeated.", valueName: "model"
        ),
        completion: .file())
    var from: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The mapping model, an .xcmappingmodel; without it, one is inferred.", valueName: "file"),
        completion: .file())
    var mapping: String?

    @Flag(name: .long, help: "Show the plan, and change nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Keep the older store as a copy beside the newer one.")
    var keepBackup = false

    @Option(name: .long, help: ArgumentHelp(OutputFormat<MigrateCommand>.help))
    var format = OutputFormat<MigrateCommand>.text

    func run() throws {
        let target = try NamedModel(path: to)
        let sources = try from.flatMap { try NamedModel.all(path: $0) }
        let url = URL(fileURLWithPath: store)
        let backup = keepBackup ? MigrationOutcome.backup(of: url) : nil
        if let backup, FileManager.default.fileExists(atPath: backup.path) {
            throw CommandFailure.usage("The backup would replace '\(backup.path)'; move that away first.")
        }
        var outcome: MigrationOutcome
        do {
            if try PersistentStoreCoordinator.fits(target.model, storeAt: url) {
                outcome = MigrationOutcome(store: store, target, isCurrent: true)
            } else if let mapping {
                outcome = try mapped(url, target, sources, mapping, backup)
            } else {
                outcome = try changed(url, target, sources, nil, backup)
            }
        } catch let error as StoreError {
            throw CommandFailure.usage("\(error)")
        }
        try format.write(outcome) { $0.other }
        if outcome.isRefused { throw ExitCode(1) }
    }

    /// Migrates a store in place.
    private func changed(
        _ url: URL, _ target: NamedModel, _ sources: [NamedModel], _ mapping: MappingModel?, _ backup: URL?
    ) throws -> MigrationOutcome {
        guard
            let preview = try MigrationPreview.of(
                storeAt: url, to: target.model, sources: sources.map(\.model), mapping: mapping)
        else { throw unknownVersion }
        var outcome = MigrationOutcome(store: store, target, preview, mapping)
        if dryRun || outcome.isRefused { return outcome }
        let start = ContinuousClock.now
        let progress = try ProgressBar.during("migrating \(store)", .things("row")) { show in
            var last: MigrationProgress?
            _ = try PersistentStoreCoordinator.migrateStore(
                description(url, sources), to: target.model, mapping: mapping, backup: backup
            ) {
                last = $0
                show?($0.done, $0.total)
            }
            return last
        }
        outcome.finish(progress, ContinuousClock.now - start, backup)
        return outcome
    }

    private func mapped(
        _ url: URL, _ target: NamedModel, _ sources: [NamedModel], _ mapping: String, _ backup: URL?
    ) throws -> MigrationOutcome {
        guard
            let source = try MigrationPreview.version(ofStoreAt: url, for: target.model, sources: sources.map(\.model))
        else { throw unknownVersion }
        let model: MappingModel
        do {
            model = try MappingModel(contentsOf: URL(fileURLWithPath: mapping), from: source, to: target.model)
        } catch {
            throw CommandFailure.usage("\(error)")
        }
        if let custom = model.entityMappings.first(where: { $0.entityMigrationPolicyClassName != nil }) {
            throw CommandFailure.usage(
                "The mapping '\(custom.name)' needs the policy '\(custom.entityMigrationPolicyClassName ?? "")', which is a class of a program; migrate the store in that program, with PersistentStoreDescription.mappingModels and migrationPolicies."
            )
        }
        guard let reason = MigrationPreview.needForObjects(model, from: source, to: target.model) else {
            return try changed(url, target, sources, model, backup)
        }
        var outcome = MigrationOutcome(store: store, target, source, model, loadingObjectsBecause: reason)
        if dryRun { return outcome }
        let start = ContinuousClock.now
        _ = try PersistentStoreCoordinator.migrateStore(
            description(url, sources), to: target.model, mapping: model, backup: backup, observer: nil)
        outcome.finish(nil, ContinuousClock.now - start, backup)
        return outcome
    }

    private func description(_ url: URL, _ sources: [NamedModel]) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: url)
        description.sourceModels = sources.map(\.model)
        return description
    }

    private var unknownVersion: CommandFailure {
        .usage(
            "The version of '\(store)' was not found: it keeps no copy of its model, and none of the versions beside '\(to)' fits it; name it with --from."
        )
    }
}
