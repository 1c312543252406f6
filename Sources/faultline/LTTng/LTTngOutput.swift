import FaultlineReader
import Foundation

/// The directory that a CTF trace is recorded into.
enum LTTngOutput {
    /// Makes room for a trace: a trace that was recorded there before goes, as a timeline's file is written over.
    ///
    /// - Throws: ``CommandFailure`` if something else is there.
    static func clear(_ directory: String) throws {
        let files = FileManager.default
        var isDirectory: ObjCBool = false
        guard files.fileExists(atPath: directory, isDirectory: &isDirectory) else { return }
        guard isDirectory.boolValue, let names = try? files.contentsOfDirectory(atPath: directory) else {
            throw CommandFailure.usage(
                "\"\(directory)\" is no directory, and LTTng writes to one; name another with -o.")
        }
        let made = ["ust", TraceReader.symbolsName]
        guard names.allSatisfy(made.contains) else {
            throw CommandFailure.usage(
                "The directory \"\(directory)\" holds other things than a trace; name another with -o.")
        }
        do {
            for name in names { try files.removeItem(atPath: directory + "/" + name) }
        } catch {
            throw CommandFailure.usage(
                "The trace in \"\(directory)\" cannot be removed (\(error.localizedDescription)); name another directory "
                    + "with -o.")
        }
    }
}
