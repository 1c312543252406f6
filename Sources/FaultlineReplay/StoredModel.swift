import FaultlineModel
import FaultlineStore

/// The model of a store at rest, and what of it the store has.
struct StoredModel {
    var model: ManagedObjectModel
    /// The name of the configuration; `nil`: the store has all entities.
    var configuration: String?

    /// The first model that passes a check.
    ///
    /// - Throws: What the check says of the first of all, if none passes.
    static func first(
        of models: [StoredModel], check: (StoredModel) throws(ReplayError) -> Void
    ) throws(ReplayError) -> StoredModel {
        var failure: ReplayError?
        for model in models {
            do {
                try check(model)
                return model
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? ReplayError.badModel("it is empty.")
    }

    /// The model that a store of Faultline's keeps beside its rows; `nil`: it has none, since Core Data made it, or an
    /// older version of Faultline.
    ///
    /// - Throws: ``ReplayError`` if what the store keeps is no model.
    static func read(_ file: DatabaseFile) throws(ReplayError) -> StoredModel? {
        let table = PersistentStore.modelTable
        guard try file.hasTable(table),
            let row = try file.rows("SELECT Z_MODEL, Z_CONFIGURATION FROM \(table)").first, !row[0].text.isEmpty
        else { return nil }
        let configuration = row[1].text
        do {
            return StoredModel(
                model: try ManagedObjectModel(contents: row[0].text, name: "\(table) of the store"),
                configuration: configuration.isEmpty ? nil : configuration)
        } catch {
            throw .badModel("\(error)")
        }
    }
}
