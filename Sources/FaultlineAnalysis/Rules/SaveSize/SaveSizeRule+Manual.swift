extension SaveSizeRule {
    public var thresholds: [Threshold] {
        [
            SaveDetector.smallSaves, SaveDetector.smallSave, SaveDetector.pause,
            SaveDetector.longSave, SaveDetector.manyObjects, SaveDetector.longBlock, Self.mainThreadPart,
            Self.part, ResultDemand.minimumWritten,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "\(SaveDetector.smallSaves.count) saves or more from one line with "
                + "\(SaveDetector.smallSave.count) objects each at most, on one thread, in one scope, less than "
                + "\(SaveDetector.pause.text) apart; or a save of \(SaveDetector.longSave.text), or of \(Phrase.count(SaveDetector.manyObjects.count)) "
                + "objects, or one of \(SaveDetector.dividedSave) or more for whose lock somebody waits "
                + "\(SaveDetector.longBlock.text); or results of \(ResultDemand.minimumWritten.text) objects or more, all of "
                + "which were deleted, or set to the same values, though the program read none.",
            evidence: "Saves, objects, time, what of it was in COMMIT, the largest save, and waits for the lock; which "
                + "fetch the objects of a save came from, and whether anything was read of them.",
            fix: "One save after all changes, or in parts where that one would be large; a large one in parts. "
                + "BatchDeleteRequest and BatchUpdateRequest write rows that need not be objects.",
            saving: "What a save takes whatever it holds, for each that is spared, fitted from saves of different "
                + "sizes; without such the commits that were measured. Of a large save by how much the longest "
                + "pause gets shorter. For a batch request: two thirds of the time that fetching and saving the objects took, "
                + "and the commits that it spares.",
            guards: [
                "Actions that somebody confirms, with pauses between, stay saves of their own.",
                "The time that a save waits for others, and COMMIT, are not its own: R13 has what the waits cost, and each "
                    + "part of a save would have a COMMIT as well.",
                "Saves that have fewer than twice as many objects as a part should have are left alone.",
                "A large save beside the main thread for which nobody waits is a note.",
                "A batch request is advised only where no class of the saved objects overrides willSave, didSave, "
                    + "prepareForDeletion or a validating method, the context has no undo manager, no unsaved changes were "
                    + "compared for the fetch, and the save met no conflict.",
                "What a commit takes is up to the disk, so that tests should count saves.",
            ])
    }
}
