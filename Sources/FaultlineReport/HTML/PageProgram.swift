import CPage

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
