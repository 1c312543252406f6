internal import FaultlineAnalysis

/// JSON for programs: everything that the text shows, and more.
struct JSONRenderer: Renderer {
    let name = "json"
    let purpose = "for programs"

    var report: Printer<Analysis>? { { JSONReport($0, grouped: $1.grouped).render() } }
    var check: Printer<BudgetCheck>? { { check, _ in CheckJSON(check).render() } }
    var diff: Printer<ProfileDiff>? { { diff, _ in DiffJSON(diff).render() } }
    var inspection: Printer<StoreInspection>? { { inspection, _ in InspectionJSON(inspection).render() } }
    var verification: Printer<Verification>? { { verification, _ in VerificationJSON(verification).render() } }
    var tree: Printer<CallTree>? { { tree, _ in CallTreeJSON.render(tree) } }
    var timeline: Printer<EventTimeline>? { { timeline, _ in TimelineJSON.render(timeline) } }
    var other: Printer<any SelfPrinting>? { { document, _ in document.json } }
    var events: (any EventLines.Type)? { EventJSON.self }
    var rows: (any RowLines.Type)? { RowsJSON.self }
}
