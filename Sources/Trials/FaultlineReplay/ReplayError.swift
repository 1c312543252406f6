import CSQLite
import Glibc

/// The error for a store that cannot be examined.
package struct ReplayError: Error, CustomStringConvertible, Sendable {
    /// The message: what failed, on what, and what to do.
    package let description: String
    /// The reason alone.
    let reason: String
    /// Whether the store itself is damaged, or the file is not a store.
    let isDamage: Bool
    /// Whether the machine is the cause, not the named file: there is no space, or no folder for copies.
    package let isOfTheMachine: Bool
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
            "\"\(path)\" is not a regular file; name the file of a store, not its folder or a device.",
            reason: "is not a regular file")
    }

    static func unreadable(_ path: String, _ number: Int32) -> ReplayError {
        ReplayError(
            number == ENOENT
                ? "Cannot read the store \"\(path)\": there is no such file; check the path."
                : "Cannot read the store \"\(path)\" (\(String(cString: strerror(number)))); check its permissions.",
            reason: "cannot be read")
    }

    static func notADatabase(_ path: String, _ reason: String) -> ReplayError {
        ReplayError(
            "Cannot read \"\(path)\" as an SQLite file (\(reason)); name an SQLite file.",
            reason: reason)
    }

    static func noStore(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is not a Core Data or Faultline store: it has no table Z_METADATA; name the store that the "
                + "program used.", reason: "has no table Z_METADATA", isDamage: false)
    }

    static func noModel(_ path: String) -> ReplayError {
        ReplayError(
            "The store \"\(path)\" has no readable copy of its model; name the model with --model.",
            reason: "has no readable copy of its model",
            isDamage: false)
    }

    /// - Parameter reason: A sentence that says why, about 'the store'.
    static func unreadableModel(_ path: String, _ reason: String) -> ReplayError {
        let said = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
        return ReplayError(
            "\(said.replacing("'the store'", with: "\"\(path)\"")); name a model file.", reason: reason, isDamage: false
        )
    }

    static func cannotOpen(_ path: String, _ reason: String) -> ReplayError {
        ReplayError("Cannot open a copy of the store \"\(path)\": \(reason)", reason: reason, isDamage: false)
    }

    static func noScratch(_ folder: String, _ reason: String) -> ReplayError {
        ReplayError(
            "Cannot create a folder for copies in \"\(folder)\" (\(reason)); set TMPDIR to a writable folder.",
            reason: reason, isOfTheMachine: true)
    }

    static func badModel(_ reason: String) -> ReplayError {
        ReplayError(
            "The model in the store cannot be used: \(reason) Name the model with --model.", reason: reason)
    }

    static func cannotCopy(_ path: String, _ reason: String, isLackOfRoom: Bool = false) -> ReplayError {
        var error = ReplayError(
            "Cannot copy \"\(path)\" to a temporary folder (\(reason)); free some space, or set TMPDIR to a folder "
                + "that has enough.",
            reason: reason, isOfTheMachine: true)
        error.isLackOfRoom = isLackOfRoom
        return error
    }

    static func keepsChanging(_ path: String) -> ReplayError {
        ReplayError(
            "Cannot copy \"\(path)\": it is written to constantly; pause the program that writes to it, or name a "
                + "backup (sqlite3 STORE '.backup COPY').", reason: "is written to constantly", isOfTheMachine: true)
    }

    /// - Parameter differences: A sentence about the differences between the store and the model, in both directions.
    static func otherModel(_ path: String, _ differences: String) -> ReplayError {
        ReplayError(
            "The model does not match the store \"\(path)\": \(differences). Name the version that wrote the store with --model.",
            reason: differences, isDamage: false)
    }

    static func modelOfNoStore(_ path: String) -> ReplayError {
        ReplayError(
            "\"\(path)\" is not a Core Data or Faultline store, so no model belongs to it; leave out --model.",
            reason: "no model belongs to it", isDamage: false)
    }

    static func sqlite(_ code: Int32, _ message: String, sql: String) -> ReplayError {
        let isDamage = [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR].contains(code & 0xFF)
        let advice = isDamage ? "; run \"PRAGMA integrity_check\" to see whether the store is damaged" : ""
        return ReplayError(
            "SQLite cannot run \"\(sql)\" (\(message))\(advice).", reason: message, isDamage: isDamage)
    }
}
