internal import FaultlineAnalysis

/// JUnit's XML, which build servers show as tests: one for each limit, and one for each finding that counts.
struct JUnitRenderer: Renderer {
    let name = "junit"
    let purpose = "for build servers"

    var check: Printer<BudgetCheck>? { { check, _ in JUnitReport(check: check).render() } }
}
