internal import FaultlineTrace

extension MissingIndexRule {
    /// The minimum written rows for a redundant index to be a warning.
    static let needlessWrites = Threshold(
        "R06", "needlessWrites", 5000, .count, "minimum written rows for an unneeded index to be a warning")

    /// The findings about redundant indexes: each costs space, and time at every write.
    func needlessIndexes(_ profile: Profile) -> [Finding] {
        profile.tableIndexes.flatMap { table, indexes in
            indexes.needless.compactMap { finding(for: $0.columns, beside: $0.other, of: table, profile) }
        }
    }

    private func finding(
        for columns: [String], beside other: [String], of table: String, _ profile: Profile
    ) -> Finding? {
        // Indexes that the store creates itself, for entities and relationships, cannot be left out.
        guard let index = Self.proposal(table, columns, profile), !index.isOfRelationship(profile) else { return nil }
        let writes = profile.writes(of: index.entity)
        let longer = Self.proposal(table, other, profile)?.properties ?? "\(code: other.joined(separator: ", "))"
        var finding = Finding(
            rule: id, ruleName: name, title: "Drop the index of \(entity: index.entity) by \(index.properties)",
            change: nil,
            score: min(
                Score.highestWarning,
                Score.of(
                    Double(writes), info: Self.needlessWrites.value, warning: 1000 * Self.needlessWrites.value)),
            fix: "The index on \(longer) serves the same queries. Every written row pays for both.",
            saving: Saving(), confidence: .medium("fetches outside the trace may use the index"),
            signature: [id, "needless", table, columns.joined(separator: ",")].joined(separator: "|"))
        finding.explanation = [
            "Its columns are the first columns of the other index."
                + (writes == 0
                    ? ""
                    : " Maintaining it costs about \(duration: Self.upkeep) per written row; \(rows: writes) "
                        + "\(writes == 1 ? "was" : "were") written.")
        ]
        finding.evidence = [Evidence("writtenRows", writes, .rows)]
        return finding
    }

    /// An index in terms of the model, without the collations and directions of its columns.
    private static func proposal(_ table: String, _ columns: [String], _ profile: Profile) -> IndexProposal? {
        let names = columns.map { String($0.prefix { $0 != " " }) }
        return IndexProposal(table: table, columns: names, profile)
    }
}
