/// An object in a keyed archive whose class belongs to the program that archived it.
///
/// Reading an archive creates no objects of the classes that it names, only these descriptions of them.
public struct ArchivedObject {
    /// The name of the class: `"MyApp.Cover"`.
    public let className: String
    /// The names of the class and its superclasses, nearest first.
    public let classNames: [String]
    /// The values that the object has archived, by key; `nil` values are missing.
    ///
    /// Strings, `Int64` (`UInt64` above its range), `Double`, `Bool`, `Data`, `Date`, `URL`, `UUID`, arrays, dictionaries and archived objects.
    public let values: [String: Any]

    /// The value that the object has archived under a key; `nil` if there is none.
    public subscript(key: String) -> Any? { values[key] }
}

extension ArchivedObject: CustomStringConvertible {
    /// The class and the values: `<MyApp.Cover: text = default cover>`.
    public var description: String {
        let values = values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
        return "<\(className): \(values.joined(separator: ", "))>"
    }
}
