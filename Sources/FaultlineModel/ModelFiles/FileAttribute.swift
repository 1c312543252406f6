/// One attribute of a model file's elements: how a description gets its value from it, and what it is printed as.
struct FileAttribute<Owner> {
    let name: String
    /// Sets the description's value from the attribute's text (`nil`: it is not there).
    ///
    /// Returns what is wrong with the text, after the thing's name: `"has the type 'Strin', …"`.
    let read: (inout Owner, String?) -> String?
    /// The text for the description's value; `nil`: the attribute is left out.
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

    /// The name of something else; an empty one names nothing.
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
    ///   - default: what it is where the attribute is missing.
    ///   - isWritten: whether the default is printed too.
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
                    return "has the \(name) '\(text)', which is no count; correct it"
                }
                owner[keyPath: path] = count
                return nil
            }, write: { $0[keyPath: path] == 0 ? nil : String($0[keyPath: path]) })
    }
}
