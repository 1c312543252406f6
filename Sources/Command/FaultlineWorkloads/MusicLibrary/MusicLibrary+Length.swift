import FaultlineStore

extension MusicLibrary {
    /// Shows the number of songs, and their total length.
    func showLibrary(_ context: ManagedObjectContext, _ outcome: inout Outcome) throws {
        try screen("library", &outcome) { outcome in
            let (count, milliseconds) =
                form.flaws.contains(.sumInMemory) ? try addUp(context) : try askForSum(context)
            outcome.show("\(count) songs, \(Self.length(milliseconds))")
        }
    }

    private func addUp(_ context: ManagedObjectContext) throws -> (count: Int, milliseconds: Int) {
        let tracks = try context.fetch(FetchRequest<Track>())
        return (tracks.count, tracks.reduce(0) { $0 + $1.milliseconds })
    }

    private func askForSum(_ context: ManagedObjectContext) throws -> (count: Int, milliseconds: Int) {
        var request = FetchRequest<Track>()
        request.resultType = .dictionary
        request.propertiesToFetch = [
            ExpressionDescription("count", .function(.count, "number")),
            ExpressionDescription("milliseconds", .function(.sum, "milliseconds")),
        ]
        let found = try context.fetchDictionaries(request)[0]
        return (
            found["count"].flatMap { Int($0) } ?? 0,
            found["milliseconds"].flatMap { Double($0) }.map { Int($0) } ?? 0
        )
    }
}
