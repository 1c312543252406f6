/// An XML attribute of a model file, with its conversion to and from a description's value.
struct FileAttribute<Owner> {
    let name: String
    /// Sets the description's value from the attribute's text, which is `nil` if the attribute is missing.
    ///
    /// Returns the problem with the text, worded to follow the subject's name: `"has the type 'Strin', …"`.
    let read: (inout Owner, String?) -> String?
    /// Returns the text for the description's value; `nil` if the attribute is left out.
    let write: (Owner) -> String?
}

extension FileAttribute {
    static func text(_ name: String, _ path: WritableKeyPath<Owner, String>) -> Self {
        Self(
            name: name,
            read: { owner, text in
                owner[keyPath: path] = text ?? ""
                return nil
            }, write: { $0[keyPath: path] })
    }

    static func text(_ name: String, _ path: WritableKeyPath<Owner, String?>) -> Self {
        Self(
            name: name,
            read: { owner, text in
                owner[keyPath: path] = text
                return nil
            }, write: { $0[keyPath: path] })
    }

    /// The name of another declaration; an empty name means none.
    static func reference(_ name: String, _ path: WritableKeyPath<Owner, String?>) -> Self {
        Self(
            name: name,
            read: { owner, text in
                owner[keyPath: path] = text == "" ? nil : text
                return nil
            }, write: { $0[keyPath: path] })
    }

    /// `YES` or `NO`.
    ///
    /// - Parameters:
    ///   - default: The value if the attribute is missing.
    ///   - isWritten: Whether to write the default too.
    static func flag(
        _ name: String, _ path: WritableKeyPath<Owner, Bool>, default standard: Bool = false, isWritten: Bool = false
    ) -> Self {
        Self(
            name: name,
            read: { owner, text in
                owner[keyPath: path] = text.flatMap(FileValue.flag) ?? standard
                return nil
            },
            write: { owner in
                let value = owner[keyPath: path]
                return value == standard && !isWritten ? nil : value ? "YES" : "NO"
            })
    }

    static func count(_ name: String, _ path: WritableKeyPath<Owner, Int>) -> Self {
        Self(
            name: name,
            read: { owner, text in
                guard let text, !text.isEmpty else {
                    owner[keyPath: path] = 0
                    return nil
                }
                guard let count = Int(text), count >= 0 else {
                    return "has the \(name) '\(text)', which is not a count; correct it"
                }
                owner[keyPath: path] = count
                return nil
            }, write: { $0[keyPath: path] == 0 ? nil : String($0[keyPath: path]) })
    }
}
