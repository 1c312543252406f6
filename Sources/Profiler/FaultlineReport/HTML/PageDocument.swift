internal import CPage
internal import FaultlineDigest
internal import FaultlineDocuments
internal import Foundation

/// A page in one file: its program and its style, and what it shows.
///
/// Its policy lets the browser run this program and nothing else, whatever the names in a trace contain, and lets it fetch
/// nothing.
struct PageDocument {
    /// The first bytes of every page, by which one is known.
    static let beginning = "<!DOCTYPE html>\n<!-- A page of faultline."

    /// The subject of a page, which decides how its program shows it.
    enum Kind: String {
        case report, diff, inspection, model

        /// The page's elements before its program fills them.
        var body: String {
            switch self {
            case .report: PageProgram.report
            case .diff: PageProgram.diff
            case .inspection: PageProgram.inspection
            case .model: PageProgram.model
            }
        }
    }

    let kind: Kind
    let title: String
    var traces: [PageData] = []
    /// The contents of the page besides traces.
    var document: JSONValue = .null
    /// HTML for browsers without JavaScript.
    var scriptless = ""

    func render() -> String {
        let (program, style) = (PageProgram.code, PageProgram.style)
        let policy =
            "default-src 'none'; script-src '\(Self.source(program))'; style-src '\(Self.source(style))'; "
            + "worker-src blob:; base-uri 'none'; form-action 'none'"
        var page = """
            \(Self.beginning) It needs no network. -->
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(Self.escaped(title)) – Faultline</title>
            <style>\(style)</style>
            </head>
            \(kind.body.replacing("</body>", with: scriptless + "</body>"))

            """
        page += Self.script("application/json", "document", document.line)
        for (number, trace) in traces.enumerated() {
            let columns = trace.columns
            let head = JSONValue.object([("columns", columns.json), ("data", trace.head)]).line
            page += Self.script("application/json", "head-\(number)", head)
            let packed = Data(Gzip.compress(columns.bytes) ?? []).base64EncodedString()
            page += Self.script("text/plain", "columns-\(number)", packed)
        }
        page += "<script type=\"module\" id=\"program\">\(program)</script>\n</html>\n"
        return page
    }

    /// A script element that holds data.
    ///
    /// Its text cannot end it: the character with which tags begin does not occur.
    private static func script(_ type: String, _ id: String, _ text: String) -> String {
        "<script type=\"\(type)\" id=\"\(id)\">\(text.replacing("<", with: "\\u003c"))</script>\n"
    }

    /// The name that a content security policy gives to a script or a style of that text.
    private static func source(_ text: String) -> String {
        "sha256-" + Data(SHA256.hash(text)).base64EncodedString()
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}

/// The program and the style of a page, from the files in the folder `Page`.
enum PageProgram {
    /// The modules as one: a page has no other files to import them from.
    ///
    /// Their names are distinct, so that joining them only takes away the words that connect them.
    static let code = joined(String(cString: fl_page_code()))
    static let style = String(cString: fl_page_style())
    /// The elements of each kind of page before the program fills them.
    static let report = body(FL_PAGE_REPORT)
    static let diff = body(FL_PAGE_DIFF)
    static let inspection = body(FL_PAGE_INSPECTION)
    static let model = body(FL_PAGE_MODEL)

    /// The elements of a kind of page, with the header that all kinds have.
    private static func body(_ kind: fl_page_kind) -> String {
        String(cString: fl_page_body(kind)).replacing("<!-- header -->\n", with: String(cString: fl_page_header()))
    }

    /// Modules without their imports, which can take several lines, and without the word `export`.
    private static func joined(_ modules: String) -> String {
        var lines: [Substring] = []
        var isImport = false
        for line in modules.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("import ") { isImport = true }
            if !isImport { lines.append(line.hasPrefix("export ") ? line.dropFirst(7) : line) }
            if isImport, line.hasSuffix(";") { isImport = false }
        }
        return lines.joined(separator: "\n")
    }
}
