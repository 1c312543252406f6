internal import FaultlineAnalysis

/// A page for a browser, in one file.
struct HTMLRenderer: Renderer {
    let name = "html"
    let purpose = "for a browser, with a timeline"

    var page: PagePrinter? {
        { events, options in
            let sources = options.sourceFolder.map {
                SourceExcerpts(events.tables, findings: events.analysis.findings, folder: $0)
            }
            let data = PageData(events: events, sources: sources)
            let program = TextReport.programs(events.analysis.profile).joined(separator: ", ")
            return PageDocument(title: "\(program.isEmpty ? "Trace" : program) – Faultline", data: [data]).render()
        }
    }
}
