import Foundation

/// Checks Babeltrace 2, which reads LTTng traces: the library and the command.
struct BabeltraceChecks: Examination {
    private static let library = Subject(
        name: "libbabeltrace2", why: "Faultline reads LTTng traces with it.", package: "libbabeltrace2-dev")
    private static let command = Subject(
        name: "babeltrace2", why: "It prints LTTng traces without Faultline.", package: "babeltrace2"
    )

    private let commandVersion: ExternalCommand

    /// Starts the command whose answer the checks need.
    init() {
        commandVersion = ExternalCommand(["babeltrace2", "--version"])
    }

    var silence: Check { Self.library.failed("does not respond", "Reinstall libbabeltrace2-dev.") }

    func checks() -> [Check] {
        [library(), Self.command.check(commandVersion.answer())]
    }

    private func library() -> Check {
        let name = "libbabeltrace2.so.0"
        do throws(SharedLibrary.Failure) {
            let library = try SharedLibrary(name)
            let numbers = ["major", "minor", "patch"].map { library.symbol("bt_version_get_\($0)") }
            guard let first = numbers[0], !numbers.contains(nil) else {
                return Self.library.failed("\(name) reports no version", "Reinstall libbabeltrace2-dev.")
            }
            typealias Number = @convention(c) () -> UInt32
            let version = numbers.compactMap { $0.map { String(unsafeBitCast($0, to: Number.self)()) } }
            return Self.library.ok("\(version.joined(separator: ".")), \(SharedLibrary.path(at: first) ?? name)")
        } catch {
            switch error {
            case .missing: return Self.library.missing("there is no \(name)", "Install libbabeltrace2-dev.")
            case .unusable(let reason):
                return Self.library.failed("\(name) cannot be loaded (\(reason))", "Reinstall libbabeltrace2-dev.")
            }
        }
    }
}
