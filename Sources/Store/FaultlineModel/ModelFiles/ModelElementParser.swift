import Foundation
import FoundationXML

/// Parses a file's XML into a tree of elements.
///
/// The parser reads nothing outside the file, and limits the resources that a file can use: see ``Limit`` and
/// ``XMLScreening``.
final class ModelElementParser: NSObject, XMLParserDelegate {
    /// Limits far above any real file, which keep hostile files from doing harm.
    enum Limit {
        static let bytes = 16 << 20
        static let elements = 200_000
        static let depth = 64
    }

    /// The reason why a file is not a tree of elements.
    struct Failure: Error {
        var code: ModelError.Code
        /// The reason, worded to follow the file's name: `"is not XML"`.
        var text: String
    }

    private struct Open {
        var name: String
        var attributes: [String: String]
        var line: Int
        var children: [ModelElement] = []
    }

    private var open: [Open] = []
    private var root: ModelElement?
    private var count = 0
    private var failure: Failure?
    private let wantsText: Bool

    /// - Parameter wantsText: Whether to keep text, as an attribute with an empty name, for property lists.
    private init(wantsText: Bool) {
        self.wantsText = wantsText
    }

    static func parse(_ data: Data, wantsText: Bool = false) throws(Failure) -> ModelElement {
        guard !data.isEmpty else { throw Failure(code: .notAModel, text: "is empty") }
        do throws(XMLScreening.Refusal) {
            try XMLScreening.check(data)
        } catch {
            throw Failure(code: error.isXML ? .malformedFile : .notAModel, text: error.text)
        }
        let reading = ModelElementParser(wantsText: wantsText)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reading
        let isWhole = parser.parse()
        if let failure = reading.failure { throw failure }
        guard isWhole, let root = reading.root, reading.open.isEmpty else {
            throw Failure(code: .notAModel, text: "is not XML")
        }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard failure == nil else { return }
        count += 1
        if open.count >= Limit.depth {
            stop(parser, "nests elements more than \(Limit.depth) levels deep in line \(parser.lineNumber)")
        } else if count > Limit.elements {
            stop(parser, "has more than \(Limit.elements) elements")
        } else {
            open.append(Open(name: name, attributes: attributes, line: parser.lineNumber))
        }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard failure == nil, let last = open.popLast() else { return }
        let element = ModelElement(last.name, last.attributes, last.children, line: last.line)
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        guard wantsText, failure == nil, !open.isEmpty else { return }
        open[open.count - 1].attributes["", default: ""] += text
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        self.parser(parser, foundCharacters: String(decoding: block, as: UTF8.self))
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        guard failure == nil else { return }
        let code = (error as NSError).code
        guard count > 0 else {
            failure = Failure(code: .notAModel, text: "is not XML")
            return
        }
        failure = Failure(
            code: .malformedFile, text: "is not well-formed XML: \(Self.words(code)) in line \(parser.lineNumber)")
    }

    private func stop(_ parser: XMLParser, _ text: String) {
        failure = Failure(code: .malformedFile, text: text)
        parser.abortParsing()
    }

    /// Translates libxml2's error codes (`xmlParserErrors`,
    /// https://gnome.pages.gitlab.gnome.org/libxml2/html/xmlerror_8h.html).
    private static func words(_ code: Int) -> String {
        switch code {
        case 5: "it ends in the middle of an element"
        case 9, 81: "there is a byte that is not valid text"
        case 26, 27: "there is an undefined entity"
        case 38: "there is a '<' in the value of an attribute"
        case 39, 40, 41, 65: "an attribute is not written as name=\"value\""
        case 42: "an attribute appears twice"
        case 68, 73: "a tag is not written as <name …>"
        case 76: "an end tag does not match the open element"
        default: "there is a syntax error (libxml2 error \(code))"
        }
    }
}
