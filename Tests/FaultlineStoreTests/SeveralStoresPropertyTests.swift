import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A merged fetch matches sorting all objects in code")
struct SeveralStoresPropertyTests {
    /// An item's values, kept outside the store.
    private struct Row {
        var object: Item
        var store: Int
        var name: String
        var price: Double?
        var amount: Int
    }

    private enum Key: CaseIterable {
        case name, price, amount

        func order(_ left: Row, _ right: Row) -> Int {
            switch self {
            // SQLite compares text byte by byte.
            case .name:
                let (left, right) = (Array(left.name.utf8), Array(right.name.utf8))
                return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
            case .price:
                switch (left.price, right.price) {
                case (nil, nil): return 0
                case (nil, _): return -1
                case (_, nil): return 1
                case (let left?, let right?): return left == right ? 0 : left < right ? -1 : 1
                }
            case .amount: return left.amount == right.amount ? 0 : left.amount < right.amount ? -1 : 1
            }
        }
    }

    private static let names = ["milk", "Milk", "zürich", "e\u{301}", "\u{e9}", "", "a", "ab", "😀", "\u{ffff}"]

    private func predicate(_ random: inout RandomNumbers) -> (FetchPredicate?, (Row) -> Bool) {
        let limit = Double(random.number(6))
        switch random.number(5) {
        case 0: return (PropertyPath("price") > limit, { $0.price.map { $0 > limit } ?? false })
        case 1: return (PropertyPath("amount") == Int(limit), { $0.amount == Int(limit) })
        case 2: return (.comparison(.keyPath("price"), .equalTo, .null), { $0.price == nil })
        case 3:
            return (
                .comparison(.keyPath("name"), .beginsWith, .value("a")), { $0.name.utf8.starts(with: "a".utf8) }
            )
        default: return (nil, { _ in true })
        }
    }

    @Test("Random objects, sort descriptors, predicates, offsets and limits give equal results", arguments: 0..<12)
    func fetches(_ seed: UInt64) throws {
        var random = RandomNumbers(seed: seed)
        let count = 2 + random.number(2)
        let types: [PersistentStore.StoreType] = (0..<count).map { _ in random.one([.sqlite, .inMemory, .binary]) }
        let several = try SeveralStores(types)
        var rows: [Row] = []
        func add(_ context: ManagedObjectContext) throws {
            let store = random.number(count)
            let item = try several.add(random.one(Self.names), to: store, in: context)
            if random.number(4) > 0 { item.price = Double(random.number(6)) }
            item.amount = random.number(6)
            rows.append(Row(object: item, store: store, name: item.name, price: item.price, amount: item.amount))
        }
        for _ in 0..<30 + random.number(30) { try add(several.context) }
        try several.context.save()
        // Keys follow the order of insertion within one entity, but not across several entities.
        let hasChanges = random.number(2) == 0
        if hasChanges {
            for _ in 0..<5 { try add(several.context) }
            for _ in 0..<5 {
                let place = random.number(rows.count)
                rows[place].object.amount = random.number(6)
                rows[place].amount = rows[place].object.amount
            }
            for _ in 0..<3 { several.context.delete(rows.remove(at: random.number(rows.count)).object) }
        }

        for _ in 0..<60 {
            let keys = (0..<random.number(4)).map { _ in
                (key: random.one(Key.allCases), isAscending: random.number(2) == 0)
            }
            let (predicate, holds) = predicate(&random)
            var request = FetchRequest<Item>(predicate: predicate)
            request.sortDescriptors = keys.map { FetchSortDescriptor("\($0.key)", ascending: $0.isAscending) }
            request.fetchBatchSize = random.one([0, 0, 1, 3, 7])
            if random.number(2) == 0 { request.fetchLimit = 1 + random.number(20) }
            if random.number(2) == 0 { request.fetchOffset = random.number(30) }
            if random.number(5) == 0 { request.affectedStores = [several.stores[random.number(count)]] }
            let affected = request.affectedStores
            let selected = rows.filter { row in
                holds(row) && affected.map { $0.contains(several.stores[row.store]) } ?? true
            }
            let expected = selected.enumerated().sorted { left, right in
                for (key, isAscending) in keys {
                    let order = key.order(left.element, right.element)
                    if order != 0 { return isAscending ? order < 0 : order > 0 }
                }
                return left.offset < right.offset
            }.map(\.element)
            let end = request.fetchLimit > 0 ? request.fetchOffset + request.fetchLimit : Int.max
            let wanted = expected.dropFirst(request.fetchOffset).prefix(max(0, end - request.fetchOffset))

            let found = Array(try several.context.fetch(request))
            #expect(found.count == wanted.count)
            #expect(try several.context.count(for: request) == wanted.count)
            let ids = try several.context.fetchObjectIDs(request)
            // The order of equal keys is undefined, so only the sort keys are compared.
            let byObject = Dictionary(uniqueKeysWithValues: rows.map { ($0.object, $0) })
            #expect(Set(found).count == found.count && Set(ids).count == ids.count && ids.count == found.count)
            for (object, row) in zip(found, wanted) {
                let known = try #require(byObject[object])
                #expect(holds(known))
                #expect(keys.allSatisfy { $0.key.order(known, row) == 0 })
            }
            if request.fetchLimit == 0, request.fetchOffset == 0 { #expect(Set(found) == Set(wanted.map(\.object))) }
        }
    }
}
