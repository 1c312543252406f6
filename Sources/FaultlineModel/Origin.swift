/// Where a description comes from: the line that declares it and, if a model file does, the file's element.
///
/// That is no part of what is described, so two of them are always equal.
struct Origin: Sendable {
    var declaredAt: String
    /// Keeps what the file says and the model has no word for, so that it can be printed again.
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
