internal import FaultlineAnalysis

/// A page for a browser, in one file.
struct HTMLRenderer: Renderer {
    let name = "html"
    let purpose = "for a browser"

    var page: PagePrinter? {
        { content, options in
            switch content {
            case .report(let events, let savings):
                let trace = PageData(events, options, savings)
                return PageDocument(kind: .report, title: Self.title(events.analysis.profile), traces: [trace]).render()
            case .diff(let diff, let before, let after):
                let traces = [before, after].map { PageData($0, options) }
                let title = "Changes of \(Self.title(after.analysis.profile))"
                return PageDocument(
                    kind: .diff, title: title, traces: traces, document: PageDiff.value(diff)
                ).render()
            case .inspection(let inspection):
                let title = Phrase.fileName(inspection.facts.path)
                return PageDocument(
                    kind: .inspection, title: title, document: PageInspection.value(inspection)
                ).render()
            case .model(let diagram):
                return PageDocument(kind: .model, title: diagram.title, document: PageModel.value(diagram)).render()
            }
        }
    }

    private static func title(_ profile: Profile) -> String {
        let programs = TextReport.programs(profile).joined(separator: ", ")
        return programs.isEmpty ? "trace" : programs
    }
}
