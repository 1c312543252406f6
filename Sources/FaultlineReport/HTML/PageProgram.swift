/// The program and the style of a page, from the files in the folder `Page`.
enum PageProgram {
    /// The modules, each after those that it imports.
    private static let modules = [
        PackageResources.format_js, PackageResources.columns_js, PackageResources.trace_js, PackageResources.weights_js,
        PackageResources.calltree_js, PackageResources.lanes_js, PackageResources.hotspots_js,
        PackageResources.selection_js,
        PackageResources.worker_js, PackageResources.elements_js, PackageResources.source_js,
        PackageResources.colours_js,
        PackageResources.timescale_js, PackageResources.minimap_js, PackageResources.graphpainter_js,
        PackageResources.trackpainter_js,
        PackageResources.overlays_js, PackageResources.gestures_js, PackageResources.timeline_js,
        PackageResources.eventlist_js, PackageResources.detail_js,
        PackageResources.treeview_js, PackageResources.flamegraph_js, PackageResources.charts_js,
        PackageResources.chartpanel_js, PackageResources.treeoptions_js,
        PackageResources.advice_js, PackageResources.treemap_js, PackageResources.keys_js, PackageResources.filters_js,
        PackageResources.tables_js, PackageResources.page_js,
        PackageResources.report_js, PackageResources.diff_js, PackageResources.inspection_js,
        PackageResources.modellayout_js, PackageResources.modeldiagram_js, PackageResources.model_js,
        PackageResources.main_js,
    ]

    /// The modules as one: a page has no other files to import them from.
    ///
    /// Their names are distinct, so that joining them only takes away the words that connect them.
    static let code = modules.map { joined(text($0)) }.joined(separator: "\n")
    static let style = text(PackageResources.page_css)
    /// The elements of each kind of page before the program fills them.
    static let report = body(PackageResources.report_html)
    static let diff = body(PackageResources.diff_html)
    static let inspection = body(PackageResources.inspection_html)
    static let model = body(PackageResources.model_html)

    /// The elements of a kind of page, with the header that all kinds have.
    private static func body(_ bytes: [UInt8]) -> String {
        text(bytes).replacing("<!-- header -->\n", with: text(PackageResources.header_html))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// A module without its imports, which can take several lines, and without the word `export`.
    private static func joined(_ module: String) -> String {
        var lines: [Substring] = []
        var isImport = false
        for line in module.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("import ") { isImport = true }
            if !isImport { lines.append(line.hasPrefix("export ") ? line.dropFirst(7) : line) }
            if isImport, line.hasSuffix(";") { isImport = false }
        }
        return lines.joined(separator: "\n")
    }
}
