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
        var oldPosition: Int?
        /// The number of unchanged objects before it.
        var insertionIndex = 0
        var section = ""
        var isMoved = false
    }

    /// Computes the changes.
    ///
    /// - Parameters:
    ///   - matches: The changed objects that now belong to the content.
    ///   - changedKeys: The keys of all changed objects.
    ///   - sectionName: Returns the name of an object's section; `nil` without sections.
    init(
        _ old: FetchedResultsContent, matches: [ManagedObject], changedKeys: Set<ObjectKey>, order: SortOrder,
        evaluator: PredicateEvaluator, sectionName: ((ManagedObject) -> String)?
    ) {
        self.old = old
        self.order = order
        self.evaluator = evaluator
        content = old
        var oldPositions: [ObjectKey: Int] = [:]
        var kept: [Int] = []
        kept.reserveCapacity(old.entries.count)
        for entry in old.entries.indices {
            let key = old.key(entry)
            if changedKeys.contains(key) { oldPositions[key] = entry } else { kept.append(entry) }
        }
        var candidates = matches.map { object in
            Candidate(
                object: object, keys: order.keys(of: object, evaluator), oldPosition: oldPositions[object.objectKey])
        }
        for index in candidates.indices {
            findPosition(&candidates[index], among: kept)
            guard let sectionName else { continue }
            candidates[index].section = sectionName(candidates[index].object)
            if let old = candidates[index].oldPosition, self.old.names[old] != candidates[index].section {
                candidates[index].isMoved = true
            }
        }
        candidates.sort { left, right in
            if left.insertionIndex != right.insertionIndex { return left.insertionIndex < right.insertionIndex }
            let result = order.compare(left.keys, right.keys)
            if result != 0 { return result < 0 }
            // Objects that were already in the content come first, in their old order.
            return (left.oldPosition ?? .max) < (right.oldPosition ?? .max)
        }
        let newPositions = merge(candidates, kept, isDivided: sectionName != nil)
        describe(candidates, newPositions, kept, gone: Set(oldPositions.values), isDivided: sectionName != nil)
    }

    // MARK: - Places

    private func keys(_ entry: Int) -> [SQLValue] { order.keys(of: old.object(entry), evaluator) }

    /// Finds a changed object's position among the unchanged ones; keeps the old position if it is still correct.
    private func findPosition(_ candidate: inout Candidate, among kept: [Int]) {
        if let oldPosition = candidate.oldPosition {
            let entry = Self.firstIndex(kept.count) { kept[$0] > oldPosition }
            let isBehind = entry == 0 || order.compare(keys(kept[entry - 1]), candidate.keys) <= 0
            let isInFront = entry == kept.count || order.compare(candidate.keys, keys(kept[entry])) <= 0
            if isBehind, isInFront {
                candidate.insertionIndex = entry
                return
            }
            candidate.isMoved = true
        }
        candidate.insertionIndex = Self.firstIndex(kept.count) { order.compare(candidate.keys, keys(kept[$0])) < 0 }
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
        var newPositions: [Int] = []
        var next = 0
        for position in 0...kept.count {
            while next < candidates.count, candidates[next].insertionIndex == position {
                newPositions.append(entries.count)
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
        return newPositions
    }

    // MARK: - Changes

    private mutating func describe(
        _ candidates: [Candidate], _ newPositions: [Int], _ kept: [Int], gone: Set<Int>, isDivided: Bool
    ) {
        let remaining = Set(candidates.compactMap(\.oldPosition))
        for entry in gone.subtracting(remaining).sorted() {
            changes.objects.append(.delete(old.objectID(entry), at: old.indexPath(entry)))
        }
        var inserted: [FetchedResultsChange] = []
        var moved: [FetchedResultsChange] = []
        var updated: [FetchedResultsChange] = []
        // The last of the old positions among candidates between the same two unchanged objects.
        var (group, furthest) = (-1, -1)
        for (candidate, entry) in zip(candidates, newPositions) {
            let (id, new) = (candidate.object.objectID, content.indexPath(entry))
            guard let oldPosition = candidate.oldPosition else {
                inserted.append(.insert(id, at: new))
                continue
            }
            if candidate.insertionIndex != group { (group, furthest) = (candidate.insertionIndex, -1) }
            let path = old.indexPath(oldPosition)
            if candidate.isMoved || oldPosition < furthest {
                moved.append(.move(id, from: path, to: new))
            } else {
                furthest = oldPosition
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
