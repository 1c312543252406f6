import ArgumentParser
import FaultlineMigration
import FaultlineModel
import FaultlineReplay
import FaultlineReport
import FaultlineStore
import Foundation
import Synchronization

/// Migrates a store to another version of its model.
struct MigrateCommand: ParsableCommand, PrintingCommand {
    static let output = Output.document(MigrationOutcome.self)
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrates a store to another version of its model.",
        discussion: """
            faultline migrate Library.sqlite --to Library.xcdatamodeld --dry-run
            faultline migrate Library.sqlite --to Library.xcdatamodeld --keep-backup -o migration.html

            Without a mapping model, the command infers the changes from names and renaming identifiers, and SQL migrates the store \
            in place and in one transaction. The same holds for a mapping model that only copies objects and values. Any other \
            mapping model recreates each object, in a second file that then replaces the store. Mapping models can lead \
            through the versions named with --from: the command takes the fewest steps, on a copy of the store. If anything \
            fails, the store stays as it was. Close all programs that have the store open. The exit status is 1 if the store's \
            rows do not allow the migration.
            """)

    @Argument(help: "The file of the store.", completion: .file())
    var store: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The version to migrate to: an .xcdatamodel, an .xcdatamodeld for its current version, or a store of Faultline that has it.",
            valueName: "model"),
        completion: .file())
    var to: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A version that the store may have, or that the migration may pass through. Repeat the option from the oldest to the newest.",
            valueName: "model"
        ),
        completion: .file())
    var from: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp(
            "A mapping model (.xcmappingmodel); without the option, one is inferred. Can be given several times, for several steps.",
            valueName: "file"),
        completion: .file())
    var mapping: [String] = []

    @Flag(name: .long, help: "Show the plan without changing anything.")
    var dryRun = false

    @Flag(name: .long, help: "Keep the older store as a copy beside the newer one.")
    var keepBackup = false

    @Option(name: .long, help: ArgumentHelp(OutputFormat<MigrateCommand>.help))
    var format = OutputFormat<MigrateCommand>.text

    @OptionGroup var file: PrintedFile

    func run() throws {
        let output = try outputFile(CommandInputs([store, to] + from + mapping))
        let target = try NamedModel(path: to)
        try ModelArgument.checkCompleteness(target.model, to)
        let sources = try from.flatMap { path in
            let versions = try NamedModel.all(path: path)
            for version in versions { try ModelArgument.checkCompleteness(version.model, path) }
            return versions
        }
        let url = URL(fileURLWithPath: store)
        let backup = keepBackup ? MigrationOutcome.backup(of: url) : nil
        if let output, let backup, FileIdentity(output.path) == FileIdentity(backup.path) {
            throw CommandFailure.usage(
                "The output would replace the store's backup \"\(backup.path)\"; name another file with -o.")
        }
        if let backup, FileManager.default.fileExists(atPath: backup.path) {
            throw CommandFailure.usage("The backup would replace \"\(backup.path)\"; move that file away first.")
        }
        let outcome: MigrationOutcome
        do {
            outcome = try migrate(url, target, sources, backup)
        } catch let error as StoreError {
            throw CommandFailure.usage("\(error)")
        }
        try write(outcome, to: output)
        if outcome.isRefused { throw ExitCode(1) }
    }

    private func migrate(
        _ url: URL, _ target: NamedModel, _ sources: [NamedModel], _ backup: URL?
    ) throws -> MigrationOutcome {
        var description = PersistentStoreDescription(url: url)
        (description.sourceModels, description.allowsEarlierVersions) = (sources.map(\.model), true)
        var mappings: [MappingModel] = []
        let route = try MigrationRoute(reading: description, to: target.model, named: store) {
            (versions) throws(StoreError) in
            for file in mapping { mappings.append(try load(file, between: versions)) }
            return mappings
        }
        guard let route else {
            throw CommandFailure.usage(
                "The version of \"\(store)\" was not found: \(misfit(url)), and none of the versions beside \"\(to)\" fits it; name its version with --from."
            )
        }
        let used = route.steps.compactMap(\.mapping)
        if let unused = zip(mapping, mappings).first(where: { !used.contains($0.1) })?.0 {
            throw CommandFailure.usage(
                "No steps lead from the version of \"\(store)\" to \(target.name) with the mapping model \"\(unused)\"; name the versions in between with --from, or leave the mapping model out."
            )
        }
        var outcome = MigrationOutcome(store: store, target, route, try route.preview(), versions: sources)
        if dryRun || outcome.isCurrent || outcome.isRefused { return outcome }
        let start = ContinuousClock.now
        do {
            let progress = try run(route, backup)
            outcome.finish(route.steps.count == 1 ? progress : nil, ContinuousClock.now - start, backup)
        } catch let error as StoreError where error.code == .migration && route.steps.count > 1 {
            outcome.refuse([error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message])
        }
        return outcome
    }

    /// The reason why the store's own copy of its model does not show its version, as part of a sentence.
    private func misfit(_ url: URL) -> String {
        guard let kept = try? ManagedObjectModel.kept(inStoreAt: url.path),
            let mismatch = try? PersistentStoreCoordinator.mismatch(of: kept, withStoreAt: url)
        else { return "the store has no readable copy of its model" }
        return "the store does not fit its own copy of its model (\(mismatch))"
    }

    /// Migrates the store with a bar that shows the progress.
    ///
    /// - Returns: The progress at the end.
    private func run(_ route: MigrationRoute, _ backup: URL?) throws -> MigrationProgress? {
        try ProgressBar.during("migrating \(store)", .things("row")) { show in
            let last = Mutex<MigrationProgress?>(nil)
            try route.run(backup: backup) { progress in
                last.withLock { $0 = progress }
                // The steps after this one are estimated to have as many rows.
                let total = progress.totalRowCount * UInt64(progress.stepCount)
                show?(progress.completedRowCount + progress.totalRowCount * UInt64(progress.step - 1), total)
            }
            return last.withLock { $0 }
        }
    }

    private func load(_ file: String, between versions: [ManagedObjectModel]) throws(StoreError) -> MappingModel {
        let mapping: MappingModel
        do {
            mapping = try MappingModel(contentsOf: URL(fileURLWithPath: file), between: versions)
        } catch {
            throw StoreError(.missingMappingModel, "\(error)")
        }
        if let custom = mapping.entityMappings.first(where: { $0.entityMigrationPolicyClassName != nil }) {
            throw StoreError(
                .entityMigrationPolicy,
                "The mapping \"\(custom.name)\" needs the policy \"\(custom.entityMigrationPolicyClassName ?? "")\", which is a class of a program; migrate the store in that program, with PersistentStoreDescription.mappingModels and migrationPolicies."
            )
        }
        return mapping
    }
}
