import CSQLite

/// The error for a store that cannot be examined.
public struct ReplayError: Error, CustomStringConvertible, Sendable {
    /// The message: what failed, on what, and what to do.
    public let description: String
    /// The reason alone.
    let reason: String
    /// Whether the store itself is damaged, or the file is not a store.
    let isDamage: Bool
    /// Whether the machine is the cause, not the named file: there is no space, or no folder for copies.
    public let isOfTheMachine: Bool
    /// Whether there was no space for a copy.
    private(set) var isLackOfRoom = false

    private init(_ description: String, reason: String, isDamage: Bool = true, isOfTheMachine: Bool = false) {
        self.description = description
        self.reason = reason
        self.isDamage = isDamage
        self.isOfTheMachine = isOfTheMachine
    }

    static func noFile(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is no file; name the file of a store, not its folder or a device.", reason: "is no file")
    }

    static func unreadable(_ path: String) -> ReplayError {
        ReplayError(
            "The store \"\(path)\" cannot be read; check the path, and whether it may be read.",
            reason: "cannot be read")
    }

    static func notADatabase(_ path: String, _ reason: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is no SQLite file that can be read (\(reason)); name the file of a store, not its folder.",
            reason: reason)
    }

    static func noStore(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is no store of Core Data's or Faultline's: it has no table Z_METADATA; name the store that the program "
                + "used.", reason: "has no table Z_METADATA", isDamage: false)
    }

    static func noModel(_ path: String) -> ReplayError {
        ReplayError(
            "The store \"\(path)\" does not keep its model, since Core Data made it or an older version of Faultline; name the "
                + "model with --model.", reason: "does not keep its model", isDamage: false)
    }

    static func cannotOpen(_ path: String, _ reason: String) -> ReplayError {
        ReplayError("A copy of the store \"\(path)\" cannot be opened: \(reason)", reason: reason, isDamage: false)
    }

    static func noScratch(_ folder: String, _ reason: String) -> ReplayError {
        ReplayError(
            "No folder for copies can be made in \"\(folder)\" (\(reason)); set TMPDIR to a folder that can be written to.",
            reason: reason, isOfTheMachine: true)
    }

    static func badModel(_ reason: String) -> ReplayError {
        ReplayError(
            "The model that the store keeps cannot be used: \(reason) Name the model with --model.", reason: reason)
    }

    static func cannotCopy(_ path: String, _ reason: String, isLackOfRoom: Bool = false) -> ReplayError {
        var error = ReplayError(
            "\"\(path)\" cannot be copied to a temporary folder (\(reason)); make room, or set TMPDIR to where there is some.",
            reason: reason, isOfTheMachine: true)
        error.isLackOfRoom = isLackOfRoom
        return error
    }

    static func neverSettles(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is written to all the time, so no moment of it could be copied; pause the program that writes, or name a "
                + "backup (sqlite3 STORE '.backup COPY').", reason: "is written to all the time", isOfTheMachine: true)
    }

    /// - Parameter differences: A sentence about the differences between the store and the model, in both directions.
    static func otherModel(_ path: String, _ differences: String) -> ReplayError {
        ReplayError(
            "The model is not that of the store \"\(path)\": \(differences). Name the store's own model with --model.",
            reason: differences, isDamage: false)
    }

    static func modelOfNoStore(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is no store of Core Data's or Faultline's, so no model belongs to it; leave out --model.",
            reason: "no model belongs to it", isDamage: false)
    }

    static func sqlite(_ code: Int32, _ message: String, sql: String) -> ReplayError {
        let isDamage = [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR].contains(code & 0xFF)
        let advice = isDamage ? "; see with \"PRAGMA integrity_check\" whether the store is damaged" : ""
        return ReplayError(
            "SQLite cannot run \"\(sql)\" (\(message))\(advice).", reason: message, isDamage: isDamage)
    }
}
