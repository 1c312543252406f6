import FaultlineModel
import Foundation

/// Computes how changes in a context change a controller's content.
///
/// Costs a pass over the content's keys, and a few comparisons for each changed object. Only changed objects can move,
/// because the others keep their order.
struct FetchedResultsUpdate {
    private(set) var content: FetchedResultsContent
    private(set) var changes = FetchedResultsChanges()
    private let old: FetchedResultsContent
    private let order: SortOrder
    private let evaluator: PredicateEvaluator

    /// A changed object whose position is being determined.
    private struct Candidate {
        var object: ManagedObject
        var keys: [SQLValue]
        /// The old position; `nil` if the object is new to the content.
        var oldPlace: Int?
        /// The number of unchanged objects before it.
        var place = 0
        var section = ""
        var isMoved = false
    }

    /// Computes the changes.
    ///
    /// - Parameters:
    ///   - matches: the changed objects that now belong to the content.
    ///   - changedKeys: the keys of all changed objects.
    ///   - sectionName: returns the name of an object's section; `nil` without sections.
    init(
        _ old: FetchedResultsContent, matches: [ManagedObject], changedKeys: Set<ObjectKey>, order: SortOrder,
        evaluator: PredicateEvaluator, sectionName: ((ManagedObject) -> String)?
    ) {
        self.old = old
        self.order = order
        self.evaluator = evaluator
        content = old
        var oldPlaces: [ObjectKey: Int] = [:]
        var kept: [Int] = []
        kept.reserveCapacity(old.entries.count)
        for place in old.entries.indices {
            let key = old.key(place)
            if changedKeys.contains(key) { oldPlaces[key] = place } else { kept.append(place) }
        }
        var candidates = matches.map { object in
            Candidate(object: object, keys: order.keys(of: object, evaluator), oldPlace: oldPlaces[object.objectKey])
        }
        for index in candidates.indices {
            place(&candidates[index], among: kept)
            guard let sectionName else { continue }
            candidates[index].section = sectionName(candidates[index].object)
            if let old = candidates[index].oldPlace, self.old.names[old] != candidates[index].section {
                candidates[index].isMoved = true
            }
        }
        candidates.sort { left, right in
            if left.place != right.place { return left.place < right.place }
            let result = order.compare(left.keys, right.keys)
            if result != 0 { return result < 0 }
            // Objects that were already in the content come first, in their old order.
            return (left.oldPlace ?? .max) < (right.oldPlace ?? .max)
        }
        let newPlaces = merge(candidates, kept, isDivided: sectionName != nil)
        describe(candidates, newPlaces, kept, gone: Set(oldPlaces.values), isDivided: sectionName != nil)
    }

    // MARK: - Places

    private func keys(_ place: Int) -> [SQLValue] { order.keys(of: old.object(place), evaluator) }

    /// Finds a changed object's position among the unchanged ones; keeps the old position if it is still correct.
    private func place(_ candidate: inout Candidate, among kept: [Int]) {
        if let oldPlace = candidate.oldPlace {
            let place = Self.firstIndex(kept.count) { kept[$0] > oldPlace }
            let isBehind = place == 0 || order.compare(keys(kept[place - 1]), candidate.keys) <= 0
            let isInFront = place == kept.count || order.compare(candidate.keys, keys(kept[place])) <= 0
            if isBehind, isInFront {
                candidate.place = place
                return
            }
            candidate.isMoved = true
        }
        candidate.place = Self.firstIndex(kept.count) { order.compare(candidate.keys, keys(kept[$0])) < 0 }
    }

    /// The first index for which a condition holds that holds for all later indexes too.
    private static func firstIndex(_ count: Int, _ holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Creates the new content; returns the new position of each candidate.
    private mutating func merge(_ candidates: [Candidate], _ kept: [Int], isDivided: Bool) -> [Int] {
        var entries: [FetchedResultsContent.Entry] = []
        var names: [String] = []
        entries.reserveCapacity(kept.count + candidates.count)
        var newPlaces: [Int] = []
        var next = 0
        for position in 0...kept.count {
            while next < candidates.count, candidates[next].place == position {
                newPlaces.append(entries.count)
                entries.append(.known(candidates[next].object))
                if isDivided { names.append(candidates[next].section) }
                next += 1
            }
            guard position < kept.count else { break }
            entries.append(old.entries[kept[position]])
            if isDivided { names.append(old.names[kept[position]]) }
        }
        content.entries = entries
        content.names = names
        content.makeSections(isDivided: isDivided)
        return newPlaces
    }

    // MARK: - Changes

    private mutating func describe(
        _ candidates: [Candidate], _ newPlaces: [Int], _ kept: [Int], gone: Set<Int>, isDivided: Bool
    ) {
        let remaining = Set(candidates.compactMap(\.oldPlace))
        for place in gone.subtracting(remaining).sorted() {
            changes.objects.append(.delete(old.objectID(place), at: old.indexPath(place)))
        }
        var inserted: [FetchedResultsChange] = []
        var moved: [FetchedResultsChange] = []
        var updated: [FetchedResultsChange] = []
        // The last of the old positions among candidates between the same two unchanged objects.
        var (group, furthest) = (-1, -1)
        for (candidate, place) in zip(candidates, newPlaces) {
            let (id, new) = (candidate.object.objectID, content.indexPath(place))
            guard let oldPlace = candidate.oldPlace else {
                inserted.append(.insert(id, at: new))
                continue
            }
            if candidate.place != group { (group, furthest) = (candidate.place, -1) }
            let path = old.indexPath(oldPlace)
            if candidate.isMoved || oldPlace < furthest {
                moved.append(.move(id, from: path, to: new))
            } else {
                furthest = oldPlace
                updated.append(.update(id, at: path, to: new))
            }
        }
        changes.objects += inserted + moved + updated
        guard isDivided else { return }
        let (before, after) = (Set(old.sections.map(\.name)), Set(content.sections.map(\.name)))
        for (index, section) in old.sections.enumerated() where !after.contains(section.name) {
            changes.deletedSections.insert(index)
        }
        for (index, section) in content.sections.enumerated() where !before.contains(section.name) {
            changes.insertedSections.insert(index)
        }
    }
}
