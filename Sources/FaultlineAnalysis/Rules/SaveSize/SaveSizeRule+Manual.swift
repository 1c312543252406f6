public import FaultlineTrace

extension SaveSizeRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }

    public var thresholds: [Threshold] {
        [
            SaveDetector.smallSaves, SaveDetector.smallSave, SaveDetector.pause,
            SaveDetector.longSave, SaveDetector.manyObjects, SaveDetector.longBlock, Self.mainThreadPart,
            Self.part, ResultDemand.minimumWritten,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(SaveDetector.smallSaves.count) saves from one line with at most \(SaveDetector.smallSave.count) objects each, "
                + "on one thread, in one scope, less than \(SaveDetector.pause.text) apart; or a save of at least "
                + "\(SaveDetector.longSave.text) or \(Phrase.count(SaveDetector.manyObjects.count)) objects; or a save of at least "
                + "\(SaveDetector.dividedSave) objects whose lock blocks a waiter for at least \(SaveDetector.longBlock.text); or results of "
                + "at least \(ResultDemand.minimumWritten.text) objects that were all deleted, or all set to the same values, without the "
                + "program having read any of them.",
            evidence:
                "Saves, objects, time, the part spent in COMMIT, the largest save, and waits for the lock; the fetch "
                + "that the objects of a save came from, and whether the program read any of their values.",
            fix:
                "Save once after all changes; split a save that is or would be large into parts. To delete or update rows without "
                + "realizing objects, use BatchDeleteRequest or BatchUpdateRequest.",
            saving:
                "For each save avoided: the fixed cost of a save, fitted from saves of different sizes, or else the measured COMMIT "
                + "times. For a large save: the reduction in the longest pause. For a batch request: two thirds of the time that fetching "
                + "and saving the objects took, and the commits that it avoids.",
            guards: [
                "Saves that ran no statement are ignored, such as those of child contexts, which only change their parents.",
                "Saves of separate user actions, with pauses between them, are not merged.",
                "For a large save, the time that it waits and its COMMIT do not count: R13 reports the waits, and each "
                    + "part of a split save would have a COMMIT as well.",
                "R10 does not advise splitting a save into fewer than two full parts.",
                "The finding about a large save off the main thread is a note if nothing waited for the save.",
                "A batch request is advised only where no class of the saved objects overrides willSave, didSave, "
                    + "prepareForDeletion or a validating method, the context has no undo manager, the fetch did not have to "
                    + "compare unsaved changes, and the save met no conflict.",
                "The time of a commit depends on the disk, so tests should count saves.",
            ])
    }
}
