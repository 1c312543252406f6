import FaultlineStore

extension Program {
    /// Fetches that take longer the more messages there are, and some that do not, each often enough to be warm.
    func grow() throws {
        let byNumber = [FetchSortDescriptor.ascending("number")]
        func show(_ request: FetchRequest<Message>, line: UInt = #line) throws {
            for _ in 0..<12 { print(try context.fetch(request, line: line).count) }
        }
        func count(_ request: FetchRequest<Message>, line: UInt = #line) throws {
            for _ in 0..<12 { print(try context.count(for: request, line: line)) }
        }
        try show(FetchRequest(predicate: PropertyPath("size") == 13))  // scanned
        let isLate = PropertyPath("number") > 600
        try show(FetchRequest(predicate: isLate, sortDescriptors: byNumber, fetchLimit: 20))  // sought
        try show(FetchRequest(sortDescriptors: [.descending("size")]))  // sorted
        try show(FetchRequest(sortDescriptors: [.descending("size")], fetchLimit: 20))  // sorted for a few
        try show(FetchRequest(sortDescriptors: byNumber))  // in order
        try show(FetchRequest(sortDescriptors: byNumber, fetchLimit: 20))  // first in order
        try count(FetchRequest())  // all counted
        try count(FetchRequest(predicate: PropertyPath("size") > 50))  // counted by a scan
        try show(FetchRequest(predicate: PropertyPath("text").like("*9? of*")))  // searched
    }
}
