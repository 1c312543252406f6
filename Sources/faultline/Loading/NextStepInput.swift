import FaultlineReport
import Foundation

extension NextStep.Input {
    /// Creates the input of a next step.
    ///
    /// - Parameter options: The options that both commands share: their names, followed by their values.
    /// - Returns: `nil` if the next command could not read the file, because it is a pipe or standard input.
    init?(file path: String, _ options: [String] = []) {
        var status = stat()
        guard stat(path, &status) == 0, [S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT),
            !path.hasPrefix("/dev/fd/"), !path.hasPrefix("/proc/"), path != "/dev/stdin"
        else { return nil }
        self.init(path: path, options: options, isProfile: LoadedProfile.isProfile(path))
    }
}
