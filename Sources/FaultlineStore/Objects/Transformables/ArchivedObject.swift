/// An object of a class of the program that archived it, as a keyed archive describes it.
///
/// An archive is read without making objects of the classes that it names: these are the names, and what the object has
/// put under which key.
public struct ArchivedObject {
    /// The name of the class: `"MyApp.Cover"`.
    public let className: String
    /// The names of the class and of those that it inherits from, nearest first.
    public let classNames: [String]
    /// What the object has archived, by key; what was nothing is not there.
    ///
    /// Strings, `Int64`, `Double`, `Bool`, `Data`, `Date`, `URL`, `UUID`, arrays, dictionaries and archived objects.
    public let values: [String: Any]

    public subscript(key: String) -> Any? { values[key] }
}

extension ArchivedObject: CustomStringConvertible {
    /// The class and the values: `<MyApp.Cover: text = default cover>`.
    public var description: String {
        let values = values.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }
        return "<\(className): \(values.joined(separator: ", "))>"
    }
}
