/// Collects the reasons why objects cannot be saved.
struct Validation {
    private var errors: [any Error] = []

    /// Validates every object that a save inserts, updates or deletes.
    ///
    /// - Throws: The only failure, or a ``StoreError`` with all failures.
    static func check(_ changes: ChangeSet, in context: ManagedObjectContext) throws {
        var validation = Validation()
        changes.inserted.forEachHeld { object in validation.collect { try object.validateForInsert() } }
        for object in context.updated where object.isUpdated && !object.isInserted && !object.isDeleted {
            validation.collect { try object.validateForUpdate() }
        }
        for object in changes.deleted { validation.collect { try object.validateForDelete() } }
        try validation.finish()
    }

    /// Collects the errors that a check throws.
    mutating func collect(_ check: () throws -> Void) {
        do {
            try check()
        } catch let error as StoreError where error.code == .multipleValidationErrors {
            errors += error.detailedErrors
        } catch {
            errors.append(error)
        }
    }

    /// Finishes the validation.
    ///
    /// - Throws: The collected errors.
    func finish() throws {
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        let text = "\(first)"
        var error = StoreError(
            .multipleValidationErrors,
            "Saving is refused for \(errors.count) reasons, all listed in detailedErrors; the first: \(text)\(text.hasSuffix(".") ? "" : ".")"
        )
        error.detailedErrors = errors
        throw error
    }
}
