/// The origin of a description: the line that declares it and, for a model file, the file's element.
///
/// All origins compare equal, because the origin is not part of the description.
struct Origin: Sendable {
    var declaredAt: String
    /// The element with attributes and children that the model does not know, which are written back.
    var element: ModelElement?

    init(_ fileID: StaticString, _ line: UInt) {
        declaredAt = "\(fileID):\(line)"
    }

    init(_ element: ModelElement, in file: String) {
        declaredAt = "\(file):\(element.line)"
        self.element = element
    }
}

extension Origin: Hashable {
    static func == (left: Origin, right: Origin) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
