import FaultlineStore
import Foundation

extension PersistentStoreDescription {
    /// Creates a description of a sample's store.
    ///
    /// A store that was filled with other flaws has another model, and must be filled anew instead of migrated.
    init(sampleAt url: URL) {
        self.init(url: url)
        shouldMigrateStoreAutomatically = false
    }
}
