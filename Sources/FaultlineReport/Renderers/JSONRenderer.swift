internal import FaultlineAnalysis

/// JSON for programs: everything that the text shows, and more.
struct JSONRenderer: Renderer {
    let name = "json"
    let purpose = "for programs"

    var report: Printer<Analysis>? { { ReportJSON($0, grouped: $1.grouped).jsonText } }
    var check: Printer<BudgetCheck>? { { check, _ in check.jsonText } }
    var diff: Printer<ProfileDiff>? { { diff, _ in diff.jsonText } }
    var inspection: Printer<StoreInspection>? { { inspection, _ in inspection.jsonText } }
    var verification: Printer<Verification>? { { verification, _ in verification.jsonText } }
    var tree: Printer<CallTree>? { { tree, _ in tree.jsonText } }
    var timeline: Printer<EventTimeline>? { { timeline, _ in timeline.jsonText } }
    var other: Printer<any SelfPrinting>? { { document, _ in document.jsonText } }
    var events: (any EventLines.Type)? { EventJSON.self }
    var rows: (any RowLines.Type)? { RowsJSON.self }
}
