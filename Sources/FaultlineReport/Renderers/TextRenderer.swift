internal import FaultlineAnalysis

/// Text for a terminal.
struct TextRenderer: Renderer {
    let name = "text"
    let purpose = ""

    var report: Printer<Analysis>? {
        Self.ending {
            TextReport($0, showsAll: $1.showsAll, grouped: $1.grouped)
                .render(width: $1.width, colour: $1.isColoured)
        }
    }
    var check: Printer<BudgetCheck>? { Self.ending { CheckText($0).render(width: $1.width, colour: $1.isColoured) } }
    var diff: Printer<ProfileDiff>? { Self.ending { DiffText($0).render(width: $1.width, colour: $1.isColoured) } }
    var inspection: Printer<StoreInspection>? {
        Self.ending { InspectionText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var verification: Printer<Verification>? {
        Self.ending { VerificationText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var tree: Printer<CallTree>? {
        Self.ending {
            CallTreeText(tree: $0, smallestShare: $1.smallestShare).render(width: $1.width, colour: $1.isColoured)
        }
    }
    var timeline: Printer<EventTimeline>? {
        Self.ending { TimelineText(timeline: $0).render(width: $1.width, colour: $1.isColoured) }
    }
    var other: Printer<any SelfPrinting>? { { $0.text($1) } }
    var events: (any EventLines.Type)? { EventText.self }
    var rows: (any RowLines.Type)? { RowsText.self }

    /// Returns a printer whose texts end with the next step.
    private static func ending<Content>(_ print: @escaping Printer<Content>) -> Printer<Content> {
        { content, layout in
            let text = print(content, layout)
            guard let next = layout.next else { return text }
            let ink = Ink(isColoured: layout.isColoured)
            return text + "\n" + ink.finished(ink(.dim, next.line)) + "\n"
        }
    }
}
