internal import FaultlineAnalysis

/// Text for a terminal.
struct TextRenderer: Renderer {
    let name = "text"
    let purpose = ""

    var report: Printer<Analysis>? {
        {
            TextReport($0, showsAll: $1.showsAll, grouped: $1.grouped)
                .render(width: $1.width, colour: $1.isColoured)
        }
    }
    var check: Printer<BudgetCheck>? { { CheckText($0).render(width: $1.width, colour: $1.isColoured) } }
    var diff: Printer<ProfileDiff>? { { DiffText($0).render(width: $1.width, colour: $1.isColoured) } }
    var inspection: Printer<StoreInspection>? {
        { InspectionText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var verification: Printer<Verification>? {
        { VerificationText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var tree: Printer<CallTree>? {
        { CallTreeText(tree: $0, smallestShare: $1.smallestShare).render(width: $1.width, colour: $1.isColoured) }
    }
    var timeline: Printer<EventTimeline>? {
        { TimelineText(timeline: $0).render(width: $1.width, colour: $1.isColoured) }
    }
    var other: Printer<any SelfPrinting>? { { $0.text($1) } }
    var events: (any EventLines.Type)? { EventText.self }
    var rows: (any RowLines.Type)? { RowsText.self }
}
