import FaultlineFindings
import Foundation

/// A description of this machine.
struct Machine: Sendable {
    /// The distribution's name: `Debian GNU/Linux 12 (bookworm)`.
    let system: String
    /// Whether packages come from `apt-get`, with Debian's names.
    let isDebian: Bool
    let kernel: String
    let architecture: String
    let processors: Int

    /// - Parameter release: The text of os-release(5).
    init(release: String = Self.release()) {
        let values = Self.values(release)
        system = values["PRETTY_NAME"] ?? "a system without /etc/os-release"
        let families = [values["ID"] ?? "", values["ID_LIKE"] ?? ""].joined(separator: " ").split(separator: " ")
        isDebian = families.contains { $0 == "debian" || $0 == "ubuntu" }
        var names = utsname()
        uname(&names)
        kernel = withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        architecture = withUnsafeBytes(of: &names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    }

    /// The description on one line.
    var description: String {
        "\(system), Linux \(kernel), \(architecture), \(Phrase.count(UInt64(max(1, processors)), "CPU"))"
    }

    private static func release() -> String {
        ["/etc/os-release", "/usr/lib/os-release"].lazy
            .compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }.first ?? ""
    }

    /// The values of lines such as `NAME="value"`.
    private static func values(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(separator: "\n") {
            guard let mark = line.firstIndex(of: "=") else { continue }
            values[String(line[..<mark])] = line[line.index(after: mark)...]
                .trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
        }
        return values
    }
}
