import FaultlineModel
import Foundation

/// Works out what changes of a context make of a content.
///
/// Costs a pass over the content's keys, and for each changed object a few comparisons with others: what did not change
/// keeps its order, so that only changed objects can move.
struct FetchedResultsUpdate {
    private(set) var content: FetchedResultsContent
    private(set) var changes = FetchedResultsChanges()
    private let old: FetchedResultsContent
    private let order: SortOrder
    private let evaluator: PredicateEvaluator

    /// A changed object on its way to its place.
    private struct Candidate {
        var object: ManagedObject
        var keys: [SQLValue]
        /// Where it was; `nil`: nowhere.
        var oldPlace: Int?
        /// How many of the objects that did not change stand in front of it.
        var place = 0
        var section = ""
        var isMoved = false
    }

    /// - Parameters:
    ///   - matches: the changed objects that belong to the content now.
    ///   - changedKeys: the keys of all changed objects.
    ///   - sectionName: the name of an object's section; `nil`: there are no sections.
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
            // What was there comes first, in the order in which it was.
            return (left.oldPlace ?? .max) < (right.oldPlace ?? .max)
        }
        let newPlaces = merge(candidates, kept, isDivided: sectionName != nil)
        describe(candidates, newPlaces, kept, gone: Set(oldPlaces.values), isDivided: sectionName != nil)
    }

    // MARK: - Places

    private func keys(_ place: Int) -> [SQLValue] { order.keys(of: old.object(place), evaluator) }

    /// Finds a changed object's place among those that did not change: where it was, if that is still right.
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

    /// The first of so many for which something holds that holds for all behind it.
    private static func firstIndex(_ count: Int, _ holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Makes the new content; gives the new place of each candidate.
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
        // Of several between the same two others the one that was furthest behind so far.
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
