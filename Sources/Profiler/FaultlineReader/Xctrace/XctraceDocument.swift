import Foundation
import FoundationXML

/// The rows of tables that `xctrace export` wrote, with references between values resolved.
///
/// In an export, a repeated value is an element with only a `ref` attribute, which names the `id` of its first
/// occurrence.
final class XctraceDocument: NSObject, XMLParserDelegate {
    /// An element and its children.
    final class Value {
        let tag: String
        let attributes: [String: String]
        var text = ""
        var children: [Value] = []

        init(tag: String, attributes: [String: String]) {
            self.tag = tag
            self.attributes = attributes
        }

        var number: UInt64? { UInt64(text.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// A row: the name of its table, and its values by column mnemonic.
    struct Row {
        var schema: String
        fileprivate var cells: [String: Value]
        /// Values by their `id`.
        ///
        /// Nested references are resolved on access, since values that contain one another could be as deep as the
        /// file is long.
        fileprivate var named: [String: Value]

        subscript(_ column: String) -> Value? { cells[column].map(resolved) }

        /// The direct children of a value with the given tag.
        func children(_ tag: String, of value: Value?) -> [Value] {
            (value?.children ?? []).filter { $0.tag == tag }.map(resolved)
        }

        func child(_ tag: String, of value: Value?) -> Value? { children(tag, of: value).first }

        private func resolved(_ value: Value) -> Value { value.attributes["ref"].flatMap { named[$0] } ?? value }
    }

    /// The maximum nesting depth that is read.
    private static let maximumDepth = 64

    private var open: [Value] = []
    private var values: [String: Value] = [:]
    private var schema = ""
    private var columns: [String] = []
    /// Whether the document is an export.
    private var isExport = false
    private var body: (Row) throws -> Void
    private var failure: (any Error)?

    private init(_ body: @escaping (Row) throws -> Void) {
        self.body = body
    }

    /// Passes every row of a file to `body`, in the order of the file.
    ///
    /// A file can contain several exports, one after the other, each with its own numbering of values.
    ///
    /// - Returns: Whether the file is an export, and whether it is complete.
    /// - Throws: The error of `body`.
    /// - Complexity: O(file), in memory too.
    static func read(
        _ data: Data, _ body: (Row) throws -> Void
    ) throws -> (isExport: Bool, isWhole: Bool) {
        var all = (isExport: true, isWhole: true)
        for part in XctraceText.documents(data) {
            let (isExport, isWhole) = try readOne(part, body)
            all = (all.isExport && isExport, all.isWhole && isWhole)
        }
        return all
    }

    private static func readOne(
        _ data: Data, _ body: (Row) throws -> Void
    ) throws -> (isExport: Bool, isWhole: Bool) {
        guard let data = XctraceText.readable(data) else { return (false, false) }
        return try withoutActuallyEscaping(body) { body in
            let document = XctraceDocument(body)
            let parser = XMLParser(data: data)
            parser.shouldResolveExternalEntities = false
            parser.delegate = document
            let isWhole = parser.parse()
            defer { document.body = { _ in } }
            if let failure = document.failure { throw failure }
            return (document.isExport, isWhole && document.open.isEmpty)
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        if open.isEmpty { isExport = name == "trace-query-result" }
        guard isExport, open.count < Self.maximumDepth else { return parser.abortParsing() }
        if name == "schema" {
            schema = attributes["name"] ?? ""
            columns = []
        }
        open.append(Value(tag: name, attributes: attributes))
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        open.last?.text += text
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard let value = open.popLast() else { return }
        if let id = value.attributes["id"] { values[id] = value }
        switch name {
        case "mnemonic": columns.append(value.text)
        case "row":
            let cells = zip(columns, value.children).map { ($0, $1) }
            do {
                try body(Row(schema: schema, cells: Dictionary(cells) { first, _ in first }, named: values))
            } catch {
                failure = error
                parser.abortParsing()
            }
        // Delivered rows are released; the values they define by `id` stay.
        case "node", "trace-query-result": break
        default: open.last?.children.append(value)
        }
    }

    // Exports declare no entities of their own, and the expansion of entities is unbounded.
    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
        parser.abortParsing()
    }
}
