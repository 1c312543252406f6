import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Draws values for a predicate from the objects of a copy, since a trace has none.
///
/// A set of values is taken from one object, so that the predicate finds it; of many sets that one is used with which the
/// predicate finds about as many rows as the fetch did that is done again.
struct ValueDrawing {
    /// Sets of values that are tried, and nanoseconds that may take.
    static let candidates = 24
    static let patience = 3_000_000_000.0

    let shape: ShapePredicate
    /// Where the wildcards of the predicate's `LIKE` patterns stand, as a trace's shape tells it.
    let wildcards: [String?]
    let entity: EntitySchema
    let schema: ModelSchema

    /// Values for all places of the predicate.
    struct Candidate: Sendable {
        var values: [PredicateValue]
        /// Rows that the predicate finds with them.
        var count: Int
        /// Texts that its functions found fitting on the way.
        var textMatches: Double
    }

    /// Sets of values with what they find.
    ///
    /// - Throws: ``Untriable`` if the copy has no values that fit.
    ///
    /// - Parameters:
    ///   - recorder: Keeps in memory what the coordinator's store does.
    ///   - absent: Sets of values among them that find nothing, at most.
    func candidates(
        _ context: ManagedObjectContext, _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder,
        absent: Int = 1
    ) throws -> [Candidate] {
        let ids = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: entity.name))
        guard !ids.isEmpty else { throw Untriable("The copy has no \(entity.name).") }
        // Spread over the table, and the same each time.
        var random = SeededGenerator(seed: 1)
        let chosen = (0..<4 * Self.candidates).map { _ in
            context.object(with: ids[Int.random(in: 0..<ids.count, using: &random)])
        }
        var found: [Candidate] = []
        var timing = Timing(.thread)
        for place in chosen.indices where found.count < Self.candidates && timing.total < Self.patience {
            guard let values = values(from: place, chosen) else { continue }
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

    /// Values with what they find.
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

    /// Values with which the predicate finds nothing, since no object has them; `nil`: there are none such.
    ///
    /// - Parameters:
    ///   - values: Some that it can be asked with.
    ///   - number: Tells sets of them apart.
    func absence(
        like values: [PredicateValue], number: Int = 0, _ context: ManagedObjectContext,
        _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder
    ) throws -> Candidate? {
        guard !values.isEmpty else { return nil }
        let absent = zip(values, shape.places).map { value, place in
            value.absent(number, isBelow: place.findsSmaller)
        }
        let candidate = try candidate(absent, context, coordinator, recorder)
        return candidate.count == 0 ? candidate : nil
    }

    /// Sets in which the texts that are searched for are those of one candidate, and the other values those of others.
    ///
    /// A text that matches about as often as the recorded ones, and a number that leaves about as many rows, seldom are of one
    /// object.
    func mixtures(
        _ candidates: [Candidate], textMatches: Double, _ context: ManagedObjectContext,
        _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder
    ) throws -> [Candidate] {
        // Values that find nothing are of no object.
        let drawn = candidates.filter { $0.count > 0 }
        let isSearched = shape.places.map(\.isSearch)
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

    /// Values for all places, from one of the chosen objects.
    private func values(from number: Int, _ chosen: [ManagedObject]) -> [PredicateValue]? {
        var patterns = wildcards[...]
        var values: [PredicateValue] = []
        for (index, place) in shape.places.enumerated() {
            // The upper end of a range, and what an object must not have, are another object's.
            let isUpper = place.operation == .between && index > 0 && shape.places[index - 1].names == place.names
            let isOther = isUpper || place.isNegated != (place.operation == .notEqualTo)
            let pattern = place.operation == .like ? patterns.popFirst() ?? nil : nil
            if place.isList {
                let count = [1, 2, 5, 10, 20, 50][number % 6]
                let all = (0..<count).compactMap { value(place.names, of: chosen[(number + $0) % chosen.count]) }
                guard !all.isEmpty else { return nil }
                values.append(.list(all))
            } else {
                let holder = chosen[(number + (isOther ? 1 : 0)) % chosen.count]
                guard let whole = value(place.names, of: holder) else { return nil }
                values.append(Self.part(of: whole, place.operation, pattern, number: number))
            }
        }
        return values
    }

    /// The value at the end of a key path; on the way to many objects that of the first.
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
        // Some words stand in every text, and others in few.
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
    /// A value of the same type that hardly any object has.
    ///
    /// - Parameters:
    ///   - number: Tells such values apart.
    ///   - isBelow: Whether it is to be smaller than all others, rather than greater.
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

extension ShapePredicate.Place {
    /// Whether the comparison holds for values that are smaller than the one that stands there.
    fileprivate var findsSmaller: Bool {
        switch operation {
        case .lessThan, .lessThanOrEqualTo: !isNegated
        case .greaterThan, .greaterThanOrEqualTo: isNegated
        default: false
        }
    }

    /// Whether the comparison searches a text for its value.
    fileprivate var isSearch: Bool { [.contains, .endsWith, .like, .matches].contains(operation) }
}

extension ShapePredicate {
    /// The predicate with values, for one coordinator.
    ///
    /// - Throws: ``Untriable`` if an object is not there.
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
