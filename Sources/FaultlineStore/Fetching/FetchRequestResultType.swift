/// The kind of result of a fetch request.
public enum FetchRequestResultType: String, Sendable, Hashable {
    /// Objects, returned by ``ManagedObjectContext/fetch(_:fileID:line:function:)``.
    case managedObject
    /// Dictionaries with the values of ``FetchRequest/propertiesToFetch``, returned by
    /// ``ManagedObjectContext/fetchDictionaries(_:fileID:line:function:)``.
    case dictionary
}
