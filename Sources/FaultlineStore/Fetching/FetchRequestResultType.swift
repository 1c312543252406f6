/// What a fetch request returns.
public enum FetchRequestResultType: String, Sendable, Hashable {
    /// Objects, by ``ManagedObjectContext/fetch(_:fileID:line:function:)``.
    case managedObject
    /// Dictionaries of what ``FetchRequest/propertiesToFetch`` names, by
    /// ``ManagedObjectContext/fetchDictionaries(_:fileID:line:function:)``.
    case dictionary
}
