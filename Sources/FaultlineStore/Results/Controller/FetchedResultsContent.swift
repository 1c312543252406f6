import FaultlineModel
import Foundation

/// What a ``FetchedResultsController`` shows at one time: objects in their order, in sections.
struct FetchedResultsContent {
    /// An object of the content.
    enum Entry {
        /// One that the fetch has found, by its place there; its row may not have been loaded.
        case fetched(Int)
        case known(ManagedObject)
    }

    /// A section by its name and the places of its objects.
    struct Section {
        var name: String
        var range: Range<Int>
    }

    var results: FetchedObjects
    var entries: [Entry] = []
    /// The section's name of each entry; empty without sections.
    var names: [String] = []
    private(set) var sections: [Section] = []

    init(_ results: FetchedObjects) {
        self.results = results
        entries = (0..<results.count).map { .fetched($0) }
    }

    /// The object at a place.
    func object(_ place: Int) -> ManagedObject {
        switch entries[place] {
        case .fetched(let row): results.object(at: row)
        case .known(let object): object
        }
    }

    /// The object at a place, to be looked at by the controller and not by the program.
    func unusedObject(_ place: Int) -> ManagedObject {
        switch entries[place] {
        case .fetched(let row): results.untouchedObject(at: row)
        case .known(let object): object
        }
    }

    /// The key of the object at a place, which takes no look at its row.
    func key(_ place: Int) -> ObjectKey {
        switch entries[place] {
        case .fetched(let row):
            let (key, entity) = results.identity(row)
            return ObjectKey(map: entity.map, key: key)
        case .known(let object): return object.objectKey
        }
    }

    func objectID(_ place: Int) -> ManagedObjectID {
        switch entries[place] {
        case .fetched(let row):
            let (key, entity) = results.identity(row)
            return ManagedObjectID(store: entity.store.identity, entity: entity.schema, key: key)
        case .known(let object): return object.objectID
        }
    }

    /// Puts the entries into sections: those that follow one another with the same name make one.
    ///
    /// - Returns: the name of a section that comes twice, since the order separates its objects; `nil`: none does.
    @discardableResult
    mutating func makeSections(isDivided: Bool) -> String? {
        guard isDivided else {
            sections = [Section(name: "", range: 0..<entries.count)]
            return nil
        }
        sections = []
        var seen: Set<String> = []
        var repeated: String?
        for (place, name) in names.enumerated() {
            if sections.last?.name == name {
                sections[sections.count - 1].range = sections[sections.count - 1].range.lowerBound..<place + 1
            } else {
                sections.append(Section(name: name, range: place..<place + 1))
                if !seen.insert(name).inserted { repeated = repeated ?? name }
            }
        }
        return repeated
    }

    /// The section and the number in it of a place.
    func indexPath(_ place: Int) -> IndexPath {
        var (low, high) = (0, sections.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sections[middle].range.upperBound <= place { low = middle + 1 } else { high = middle }
        }
        return IndexPath(item: place - sections[low].range.lowerBound, section: low)
    }
}
