internal import Foundation

/// A page in one file: its program and its style, and what it shows.
///
/// Its policy lets the browser run this program and nothing else, whatever the names in a trace contain, and lets it fetch
/// nothing.
struct PageDocument {
    /// The first bytes of every page, by which one is known.
    static let beginning = "<!DOCTYPE html>\n<!-- A page of faultline."

    let title: String
    let data: [PageData]

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
            <title>\(Self.escaped(title))</title>
            <style>\(style)</style>
            </head>
            \(PageProgram.body)

            """
        for (number, data) in data.enumerated() {
            let columns = data.columns
            let head = JSONValue.object([("columns", columns.json), ("data", data.head)]).line
            // The first character of a tag cannot occur in the script's text, so nothing in it can end the script.
            page += "<script type=\"application/json\" id=\"head-\(number)\">"
            page += head.replacing("<", with: "\\u003c") + "</script>\n"
            page += "<script type=\"text/plain\" id=\"columns-\(number)\">"
            page += Data(Gzip.compress(columns.bytes) ?? []).base64EncodedString() + "</script>\n"
        }
        page += "<script type=\"module\" id=\"program\">\(program)</script>\n</html>\n"
        return page
    }

    /// What a policy calls a script or a style of that text.
    private static func source(_ text: String) -> String {
        "sha256-" + Data(SHA256.hash(text)).base64EncodedString()
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
