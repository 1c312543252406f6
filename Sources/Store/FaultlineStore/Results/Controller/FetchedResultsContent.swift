import FaultlineModel
import Foundation

/// The content of a ``FetchedResultsController`` at one time: objects in order, divided into sections.
struct FetchedResultsContent {
    /// An object of the content.
    enum Entry {
        /// An object of the fetch's result, by its index there; its row may not have been loaded.
        case fetched(Int)
        case known(ManagedObject)
    }

    /// A section: its name, and the range of its objects.
    struct Section {
        var name: String
        var range: Range<Int>
    }

    var results: FetchedObjects
    var entries: [Entry] = []
    /// The section name of each entry; empty without sections.
    var names: [String] = []
    private(set) var sections: [Section] = []

    init(_ results: FetchedObjects) {
        self.results = results
        entries = (0..<results.count).map { .fetched($0) }
    }

    /// The object at an index.
    func object(_ position: Int) -> ManagedObject {
        switch entries[position] {
        case .fetched(let row): results.object(at: row)
        case .known(let object): object
        }
    }

    /// The object at an index, for the controller: it does not count as a use by the program.
    func unusedObject(_ position: Int) -> ManagedObject {
        switch entries[position] {
        case .fetched(let row): results.untouchedObject(at: row)
        case .known(let object): object
        }
    }

    /// The key of the object at an index, without loading its row.
    func key(_ position: Int) -> ObjectKey {
        switch entries[position] {
        case .fetched(let row):
            let (key, entity) = results.identity(row)
            return ObjectKey(map: entity.map, key: key)
        case .known(let object): return object.objectKey
        }
    }

    func objectID(_ position: Int) -> ManagedObjectID {
        switch entries[position] {
        case .fetched(let row):
            let (key, entity) = results.identity(row)
            return ManagedObjectID(store: entity.store.identity, entity: entity.schema, key: key)
        case .known(let object): return object.objectID
        }
    }

    /// Divides the entries into sections: adjacent entries with the same name form one.
    ///
    /// - Returns: The name of a section that occurs twice, because the sort order separates its objects; `nil` if none
    ///   does.
    @discardableResult
    mutating func makeSections(isDivided: Bool) -> String? {
        guard isDivided else {
            sections = [Section(name: "", range: 0..<entries.count)]
            return nil
        }
        sections = []
        var seen: Set<String> = []
        var repeated: String?
        for (position, name) in names.enumerated() {
            if sections.last?.name == name {
                sections[sections.count - 1].range = sections[sections.count - 1].range.lowerBound..<position + 1
            } else {
                sections.append(Section(name: name, range: position..<position + 1))
                if !seen.insert(name).inserted { repeated = repeated ?? name }
            }
        }
        return repeated
    }

    /// The index path of an entry.
    func indexPath(_ position: Int) -> IndexPath {
        var (low, high) = (0, sections.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sections[middle].range.upperBound <= position { low = middle + 1 } else { high = middle }
        }
        return IndexPath(item: position - sections[low].range.lowerBound, section: low)
    }
}
