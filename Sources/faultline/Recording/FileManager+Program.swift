import Foundation

extension FileManager {
    /// Returns the path of this program's file, whatever name it was started by.
    func pathOfThisProgram() throws -> String {
        try destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}
