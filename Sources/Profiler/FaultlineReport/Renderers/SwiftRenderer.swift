/// A document that describes classes.
package protocol SwiftPrinting {
    /// The source of the classes.
    var swiftSource: String { get }
}

/// Swift source for programs.
struct SwiftRenderer: Renderer {
    let name = "swift"
    let purpose = "with the classes of its entities"

    func printer(of document: any Document.Type) -> Printer? {
        guard document is any SwiftPrinting.Type else { return nil }
        return { document, _ in (document as? any SwiftPrinting)?.swiftSource ?? "" }
    }
}
