internal import FaultlineDocuments
internal import FaultlineTrace

/// Places in a program as locations of a SARIF log.
enum SARIFLocation {
    /// Whether a call site has a file, without which viewers cannot show it.
    static func hasFile(_ site: CallSite?) -> Bool { site.map { !$0.file.isEmpty } ?? false }

    /// A call site: its line if that is known, and its function.
    static func value(_ site: CallSite) -> JSONValue { value(site, adding: [:]) }

    static func value(_ site: CallSite, adding more: [String: JSONValue]) -> JSONValue {
        var members = more
        if !site.file.isEmpty {
            var place: [String: JSONValue] = ["artifactLocation": artifact(site.file)]
            if site.line > 0 { place["region"] = .object([("startLine", .integer(Int64(site.line)))]) }
            members["physicalLocation"] = .sorted(place)
        }
        if !site.function.isEmpty {
            members["logicalLocations"] = .array([
                .sorted(["fullyQualifiedName": .string(site.function), "kind": .string("function")])
            ])
        }
        return .sorted(members)
    }

    /// The location of a result whose line is not known: the program as a whole, or `nil` if that is not known either.
    ///
    /// A location is optional in SARIF, but GitHub rejects a log in which a result has none.
    ///
    /// - Parameter place: Other properties of the location, such as the function.
    static func program(_ programs: [String], _ place: JSONValue) -> JSONValue? {
        guard case .object(var members) = place else { return nil }
        if let program = programs.first(where: { !$0.isEmpty }) {
            members.append(("physicalLocation", .object([("artifactLocation", artifact(program))])))
        }
        return members.isEmpty ? nil : .object(members)
    }

    private static func artifact(_ path: String) -> JSONValue { .object([("uri", .string(uri(path)))]) }

    /// The URI of a file: absolute for an absolute path, and relative as the call site has it otherwise.
    static func uri(_ path: String) -> String {
        var uri = path.hasPrefix("/") ? "file://" : ""
        for byte in path.utf8 {
            // Unreserved characters of RFC 3986, and those that a path may contain. A colon in the first part of a
            // relative path would end a scheme's name.
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"), UInt8(ascii: "/"), UInt8(ascii: "+"), UInt8(ascii: "@"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                uri += "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return uri
    }
}
