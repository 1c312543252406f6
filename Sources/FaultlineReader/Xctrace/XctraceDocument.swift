import Foundation
import FoundationXML

/// The rows of the tables that `xctrace export` wrote, each value where it stands and not where it was first said.
///
/// In such a file a value that comes again is an element with `ref` alone, which names the `id` of the first.
final class XctraceDocument: NSObject, XMLParserDelegate {
    /// An element, with the elements in it.
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

    /// A row: the name of its table, and its values by the columns' mnemonics.
    struct Row {
        var schema: String
        fileprivate var cells: [String: Value]
        /// Values by number.
        ///
        /// What is within them names others by number too, and is looked up when it is asked for: values that held one
        /// another could be as deep as the file is long.
        fileprivate var named: [String: Value]

        subscript(_ column: String) -> Value? { cells[column].map(resolved) }

        /// The elements of a tag that are directly within a value.
        func children(_ tag: String, of value: Value?) -> [Value] {
            (value?.children ?? []).filter { $0.tag == tag }.map(resolved)
        }

        func child(_ tag: String, of value: Value?) -> Value? { children(tag, of: value).first }

        private func resolved(_ value: Value) -> Value { value.attributes["ref"].flatMap { named[$0] } ?? value }
    }

    /// Elements within one another up to which a file is read.
    private static let maximumDepth = 64

    private var open: [Value] = []
    private var values: [String: Value] = [:]
    private var schema = ""
    private var columns: [String] = []
    /// Whether this is an export at all.
    private var isExport = false
    private var body: (Row) throws -> Void
    private var failure: (any Error)?

    private init(_ body: @escaping (Row) throws -> Void) {
        self.body = body
    }

    /// Hands every row of a file to `body`, in the order of the file.
    ///
    /// A file can hold several exports, one behind the other; each numbers its values by itself.
    ///
    /// - Returns: Whether the file is an export, and whether it is whole.
    /// - Throws: What `body` throws.
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
        // What has been handed on is let go; what it names by number stays.
        case "node", "trace-query-result": break
        default: open.last?.children.append(value)
        }
    }

    // No export declares entities of its own, and what they can be made to hold has no end.
    func parser(_ parser: XMLParser, foundInternalEntityDeclarationWithName name: String, value: String?) {
        parser.abortParsing()
    }
}
