import FaultlineModel
import FaultlineProfile
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Draws values for a predicate from the objects of a copy, for traces without recorded values.
///
/// A set of values comes from one object, so the predicate finds that object. Of many sets, the replay uses the one
/// with which the predicate finds about as many rows as the recorded fetch.
struct ValueDrawing {
    /// The number of sets to try, and the maximum time for it in nanoseconds.
    static let candidates = 24
    static let patience = 3_000_000_000.0

    let shape: ShapePredicate
    /// The positions of wildcards in the predicate's `LIKE` patterns, from the trace's shape.
    let wildcards: [String?]
    let entity: EntitySchema
    let schema: ModelSchema

    /// Values for all operands of the predicate.
    struct Candidate: Sendable {
        var values: [PredicateValue]
        /// The number of rows that the predicate finds with these values.
        var count: Int
        /// The number of texts that its functions matched on the way.
        var textMatches: Double
    }

    /// Returns sets of values, with the numbers of rows they find.
    ///
    /// - Parameters:
    ///   - recorder: Keeps the events of the coordinator's store in memory.
    ///   - absent: The maximum number of sets that find nothing.
    /// - Throws: ``Untriable`` if the copy has no suitable values.
    func candidates(
        _ context: ManagedObjectContext, _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder,
        absent: Int = 1
    ) throws -> [Candidate] {
        let ids = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: entity.name))
        guard !ids.isEmpty else { throw Untriable("The copy has no \(entity.name) objects.") }
        // The objects are spread over the table, and the same each time.
        var random = SeededGenerator(seed: 1)
        let chosen = (0..<4 * Self.candidates).map { _ in
            context.object(with: ids[Int.random(in: 0..<ids.count, using: &random)])
        }
        var found: [Candidate] = []
        var timing = Timing(.thread)
        for position in chosen.indices where found.count < Self.candidates && timing.total < Self.patience {
            guard let values = values(from: position, chosen) else { continue }
            found.append(
                try timing.step(weight: 1) { try candidate(values, context, coordinator, recorder) })
            if values.isEmpty { break }
        }
        try context.throwReadError()
        if let some = chosen.indices.lazy.compactMap({ self.values(from: $0, chosen) }).first {
            for number in 0..<absent where timing.total < Self.patience {
                try timing.step(weight: 1) {
                    let none = try absence(like: some, number: number, context, coordinator, recorder)
                    if let none { found.append(none) }
                }
            }
        }
        guard !found.isEmpty else {
            throw Untriable("The copy has no values that the predicate could compare \(entity.name) with.")
        }
        return found
    }

    /// Returns values with the number of rows they find.
    func candidate(
        _ values: [PredicateValue], _ context: ManagedObjectContext, _ coordinator: PersistentStoreCoordinator,
        _ recorder: Recorder
    ) throws -> Candidate {
        let predicate = try shape.predicate(values, in: coordinator)
        let before = recorder.messages().count
        let count = try context.count(for: FetchRequest<ManagedObject>(entityName: entity.name, predicate: predicate))
        let matches = recorder.messages().dropFirst(before).reduce(0) { $0 + Self.textMatches($1) }
        return Candidate(values: values, count: count, textMatches: matches)
    }

    /// Returns values with which the predicate finds nothing, because no object has them, or `nil` if there are none.
    ///
    /// - Parameters:
    ///   - values: Valid operands of the predicate.
    ///   - number: Distinguishes sets of such values.
    func absence(
        like values: [PredicateValue], number: Int = 0, _ context: ManagedObjectContext,
        _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder
    ) throws -> Candidate? {
        guard !values.isEmpty else { return nil }
        let absent = zip(values, shape.positions).map { value, position in
            value.absent(number, isBelow: position.findsSmaller)
        }
        let candidate = try candidate(absent, context, coordinator, recorder)
        return candidate.count == 0 ? candidate : nil
    }

    /// Returns sets that combine the searched texts of one candidate with the other values of other candidates.
    ///
    /// A text that matches about as often as the recorded ones, and a number that finds about as many rows, rarely come
    /// from the same object.
    func mixtures(
        _ candidates: [Candidate], textMatches: Double, _ context: ManagedObjectContext,
        _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder
    ) throws -> [Candidate] {
        // Values that find nothing do not come from an object.
        let drawn = candidates.filter { $0.count > 0 }
        let isSearched = shape.positions.map(\.isSearch)
        let distance = { (candidate: Candidate) in abs(log((candidate.textMatches + 1) / (textMatches + 1))) }
        guard isSearched.contains(true), isSearched.contains(false),
            let text = drawn.min(by: { distance($0) < distance($1) })
        else { return [] }
        var timing = Timing(.thread)
        var mixed: [Candidate] = []
        for other in drawn where other.values != text.values && timing.total < Self.patience / 2 {
            let values = zip(isSearched, zip(text.values, other.values)).map { $0 ? $1.0 : $1.1 }
            mixed.append(try timing.step(weight: 1) { try candidate(values, context, coordinator, recorder) })
        }
        return mixed
    }

    private static func textMatches(_ message: TraceMessage) -> Double {
        guard case .event(let event) = message, case .sql(let statement) = event.detail else { return 0 }
        return Double(statement.textMatches)
    }

    /// Values for all operands, from one of the chosen objects.
    private func values(from number: Int, _ chosen: [ManagedObject]) -> [PredicateValue]? {
        var patterns = wildcards[...]
        var values: [PredicateValue] = []
        for (index, position) in shape.positions.enumerated() {
            // The upper end of a range, and a value that an object must not have, come from another object.
            let isUpper =
                position.operation == .between && index > 0 && shape.positions[index - 1].names == position.names
            let isOther = isUpper || position.isNegated != (position.operation == .notEqualTo)
            let pattern = position.operation == .like ? patterns.popFirst() ?? nil : nil
            if position.isList {
                let count = [1, 2, 5, 10, 20, 50][number % 6]
                let all = (0..<count).compactMap { value(position.names, of: chosen[(number + $0) % chosen.count]) }
                guard !all.isEmpty else { return nil }
                values.append(.list(all))
            } else {
                let holder = chosen[(number + (isOther ? 1 : 0)) % chosen.count]
                guard let whole = value(position.names, of: holder) else { return nil }
                values.append(Self.part(of: whole, position.operation, pattern, number: number))
            }
        }
        return values
    }

    /// The value at the end of a key path.
    ///
    /// A to-many relationship on the path leads to its first object.
    private func value(_ names: [String], of object: ManagedObject) -> PredicateValue? {
        guard let name = names.first else { return .object(object.objectID.uriRepresentation()) }
        guard let property = schema.entity(named: object.objectID.entityName)?.property(name) else { return nil }
        switch property.kind {
        case .attribute:
            guard names.count == 1, let value = object.value(forKey: name) as? any AttributeScalar else {
                return nil
            }
            return .value(value.attributeValue)
        case .toOne:
            let target = object.value(forKey: name) as? ManagedObject
            return target.flatMap { value(Array(names.dropFirst()), of: $0) }
        case .toMany, .manyToMany:
            return Members(object, property).first.flatMap { value(Array(names.dropFirst()), of: $0) }
        }
    }

    /// Returns the value to search for: the first letters of a word if it is a text, and otherwise the whole value.
    private static func part(
        of value: PredicateValue, _ operation: FetchPredicate.Operator, _ wildcards: String?, number: Int
    ) -> PredicateValue {
        guard case .value(.string(let text)) = value else { return value }
        let length = 1 + number % 4
        let words = text.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
        let longest = words.max { $0.count < $1.count }
        // Some words are in every text, and others in few.
        let word = number.isMultiple(of: 2) ? longest : words.isEmpty ? nil : words[number / 2 % words.count]
        let part = String((word ?? text[...]).prefix(length + 1))
        switch (operation, wildcards) {
        case (.beginsWith, _): return .value(.string(String(text.prefix(length))))
        case (.endsWith, _): return .value(.string(String(text.suffix(length))))
        case (.contains, _): return .value(.string(part))
        case (.like, "none"): return value
        case (.like, "trailing"): return .value(.string(text.prefix(length) + "*"))
        case (.like, "leading"): return .value(.string("*" + text.suffix(length)))
        case (.like, _): return .value(.string("*\(part)*"))
        case (.matches, _): return .value(.string(".*\(part).*"))
        default: return value
        }
    }
}

extension PredicateValue {
    /// A value of the same type that almost no object has.
    ///
    /// - Parameters:
    ///   - number: Distinguishes such values.
    ///   - isBelow: Whether it must be smaller than all others, rather than greater.
    func absent(_ number: Int, isBelow: Bool = false) -> PredicateValue {
        let sign = isBelow ? -1 : 1
        return switch self {
        case .value(.string) where isBelow: .value(.string(""))
        case .value(.string(let text)):
            .value(.string(text + String(repeating: "\u{10FFFD}", count: 1 + number)))
        case .value(.integer): .value(.integer(Int64(sign) * (Int64.max - 1 - Int64(number))))
        case .value(.double): .value(.double(1e300 * Double(sign * (1 + number))))
        case .value(.date): .value(.date(Date(timeIntervalSinceReferenceDate: Double(sign) * (1e11 + Double(number)))))
        case .object(let url):
            .object(url.deletingLastPathComponent().appendingPathComponent("p\(Int64.max - 1 - Int64(number))"))
        case .list(let values): .list(values.enumerated().map { $1.absent(number + $0) })
        default: self
        }
    }
}

extension ShapePredicate.Position {
    /// Whether the comparison holds for values smaller than the operand.
    fileprivate var findsSmaller: Bool {
        switch operation {
        case .lessThan, .lessThanOrEqualTo: !isNegated
        case .greaterThan, .greaterThanOrEqualTo: isNegated
        default: false
        }
    }

    /// Whether the comparison searches a text for its operand.
    fileprivate var isSearch: Bool { [.contains, .endsWith, .like, .matches].contains(operation) }
}

extension ShapePredicate {
    /// Returns the predicate with values, for one coordinator.
    ///
    /// - Throws: ``Untriable`` if an object does not exist.
    func predicate(
        _ values: [PredicateValue], in coordinator: PersistentStoreCoordinator
    ) throws -> FetchPredicate {
        try predicate(
            values.map { value in
                guard let argument = value.argument(in: coordinator) else {
                    throw Untriable("The copy has no object that its predicate names.")
                }
                return argument
            })
    }
}
