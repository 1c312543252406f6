import ArgumentParser
import FaultlineProfile
import FaultlineReplay
import FaultlineReport
import FaultlineRules
import FaultlineTrace

/// The database on which a report asks SQLite.
struct DatabaseOption: ParsableArguments {
    @Option(
        name: .long,
        help: """
            The database that the program used, or a copy of it. SQLite is asked there which indexes would help. The default \
            is the file that the trace names.
            """,
        completion: .file())
    var store: String?
}

extension Analysis {
    /// Analyzes a profile, and asks SQLite about indexes for its statements.
    ///
    /// Commands that number findings must number the same ones.
    ///
    /// - Parameter store: The database to ask on, or `nil` for the one that the trace names.
    /// - Throws: ``CommandFailure`` if the given database cannot be read.
    convenience init(asking store: String?, about profile: Profile) throws {
        self.init(profile, knowing: try DatabaseQuestions(store: store).ask(profile))
    }
}

/// Questions to SQLite about indexes, on a copy of the database that a program used.
private struct DatabaseQuestions {
    /// The path that the user gave, or `nil` to take the file that the trace names.
    let store: String?

    /// The largest file, with its log, that is copied without being asked for.
    private static let largest: UInt64 = 1 << 30

    /// Asks about the statements of a profile that are worth it.
    ///
    /// - Throws: ``CommandFailure`` if the file that the user gave cannot be read or copied, or is not an SQLite file.
    func ask(_ profile: Profile) throws -> IndexExaminations {
        var examinations = try examinations(of: profile)
        examinations.pages = (store ?? profile.mainDatabase).flatMap { StorePath.pages(of: $0) }
        return examinations
    }

    private func examinations(of profile: Profile) throws -> IndexExaminations {
        let statements = (examined: profile.statementsToExamine, weighed: profile.statementsToWeigh)
        guard !statements.examined.isEmpty || !statements.weighed.isEmpty else { return IndexExaminations() }
        if let store {
            do {
                return try examine(profile, statements, on: store)
            } catch let error as ReplayError {
                throw CommandFailure.replay(error)
            }
        }
        guard let path = profile.mainDatabase else {
            // The plans of a store's fetches are in its traces and logs, of which many name no file.
            guard profile.allProcesses.lacks(.operations) else { return IndexExaminations() }
            return unasked("The trace does not name a database file; pass it, or a copy of it, with --store.")
        }
        guard Self.size(of: path) <= Self.largest else {
            return unasked("\"\(path)\" is larger than 1 GiB, so it is copied only if you pass it with --store.")
        }
        do {
            return try examine(profile, statements, on: path)
        } catch {
            return unasked("\(error) Pass the database, or a copy of it, with --store.")
        }
    }

    /// The bytes of a database with its log.
    private static func size(of path: String) -> UInt64 {
        StorePath.size(of: path) &+ StorePath.size(of: path + "-wal")
    }

    /// The attached databases that are copied as well.
    private func attached(_ profile: Profile) -> [String: String] {
        var all: UInt64 = 0
        let files = profile.mainDatabase.map { profile.databases(attachedTo: $0) } ?? [:]
        // In a fixed order, so that the same ones are left out each time.
        let copied = files.ordered(on: \.key).filter { _, path in
            all &+= Self.size(of: path)
            return all <= Self.largest
        }
        return Dictionary(uniqueKeysWithValues: copied)
    }

    private func unasked(_ problem: String) -> IndexExaminations {
        var examinations = IndexExaminations()
        examinations.problem = problem
        return examinations
    }

    private func examine(
        _ profile: Profile, _ statements: (examined: [StatementToExamine], weighed: [StatementToExamine]),
        on path: String
    ) throws -> IndexExaminations {
        Interruption.removeCopiesFirst()
        let advisor = try IndexAdvisor(
            path: path, attaching: attached(profile), creating: profile.temporaryTables,
            setting: profile.planningSettings)
        var examinations = ProgressBar.during("asking SQLite about indexes", .things("statement")) { show in
            advisor.examine(
                statements.examined, besides: profile.statementsToProtect, writing: profile.writtenTables
            ) { show?(UInt64($0), UInt64(statements.examined.count)) }
        }
        examinations.widestColumns = advisor.widestColumns(of: statements.weighed)
        return examinations
    }
}
