internal import FaultlineTrace

extension MissingIndexRule {
    /// Rows that were written from which on an index that nobody needs is a note, and a warning.
    private static let writtenRows = (info: 5_000.0, warning: 5_000_000.0)

    /// Indexes that others make needless: each costs time at every write, and room.
    func needlessIndexes(_ profile: Profile) -> [Finding] {
        profile.tableIndexes.flatMap { table, indexes in
            indexes.needless.compactMap { finding(for: $0.columns, beside: $0.other, of: table, profile) }
        }
    }

    private func finding(
        for columns: [String], beside other: [String], of table: String, _ profile: Profile
    ) -> Finding? {
        let names = { (columns: [String]) in
            let plain = columns.map { $0.prefix { $0 != " " } }.map(String.init)
            return IndexProposal(table: table, columns: plain, profile)
        }
        let index = names(columns)
        // What the store makes of itself nobody can leave out.
        guard index?.isOfRelationship(profile) != true else { return nil }
        let words = { (columns: [String]) in names(columns)?.properties ?? columns.joined(separator: ", ") }
        let entity = index?.entity
        let writes = entity.map { profile.writes(of: $0) } ?? 0
        let (first, second) = (words(columns), words(other))
        var finding = Finding(
            rule: id, ruleName: name, title: "Drop the index of \(entity ?? table) by \(first)", change: nil,
            score: min(
                Score.highestWarning,
                Score.of(Double(writes), info: Self.writtenRows.info, warning: Self.writtenRows.warning)),
            fix: "The one by \(second) finds all that it finds. Every row that is written pays for both.",
            saving: Saving(), confidence: .high,
            signature: [id, "needless", table, columns.joined(separator: ",")].joined(separator: "|"))
        finding.explanation = [
            "Its columns are the first of the other one's."
                + (writes == 0
                    ? ""
                    : " Keeping it costs some \(Phrase.duration(Self.upkeep)) for each row that is written; "
                        + "\(Phrase.count(writes)) were.")
        ]
        finding.evidence = [Evidence("writtenRows", writes, .rows)]
        return finding
    }
}
