import FaultlineModel
import FaultlineStore

/// The model of a store at rest.
enum StoredModel {
    /// The model that a store of Faultline's keeps beside its rows; `nil`: it has none, since Core Data made it, or an
    /// older version of Faultline.
    ///
    /// - Throws: ``ReplayError`` if what the store keeps is no model.
    static func read(_ file: DatabaseFile) throws(ReplayError) -> ManagedObjectModel? {
        let table = StoreOpening.modelTable
        guard try file.number("SELECT count(*) FROM sqlite_schema WHERE name = '\(table)' AND type = 'table'") == 1,
            let text = try file.rows("SELECT Z_MODEL FROM \(table)").first?.first?.text, !text.isEmpty
        else { return nil }
        do {
            return try ManagedObjectModel(contents: text, name: "\(table) of the store")
        } catch {
            throw .badModel("\(error)")
        }
    }
}
