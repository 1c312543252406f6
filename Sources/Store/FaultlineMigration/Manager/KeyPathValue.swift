import FaultlineModel
import FaultlineStore
import Foundation

/// Values at key paths, with Core Data's collection operators.
enum KeyPathValue {
    /// A value that was found, or `nil` where a part of the path has none.
    struct Found {
        let value: Any?
    }

    /// Returns the value at a key path, or `nil` if there is no such property.
    static func value(_ path: String, of start: Any) -> Found? {
        var current: Any? = start
        var parts = path.split(separator: ".").map(String.init)
        while !parts.isEmpty {
            let part = parts.removeFirst()
            guard let value = current else { return Found(value: nil) }
            if part.hasPrefix("@") {
                guard let members = members(value) else { return nil }
                return collected(part, parts.joined(separator: "."), members)
            }
            if let object = value as? ManagedObject {
                guard
                    object.runtime.schema.index(of: part) != nil || object.runtime.schema.fetchedProperties[part] != nil
                else { return nil }
                current = object.value(forKey: part)
            } else if let members = members(value) {
                // A key path through several objects gives the values of all.
                var values: [Any] = []
                let rest = ([part] + parts).joined(separator: ".")
                for member in members {
                    guard let found = Self.value(rest, of: member) else { return nil }
                    if let value = found.value { values.append(value) }
                }
                return Found(value: flat(values))
            } else {
                return nil
            }
        }
        return Found(value: current)
    }

    private static func members(_ value: Any) -> [Any]? {
        if value is String || value is Data { return nil }
        return (value as? any Sequence)?.map { $0 as Any }
    }

    private static func flat(_ values: [Any]) -> [Any] {
        values.flatMap { value in members(value) ?? [value] }
    }

    private static func collected(_ name: String, _ path: String, _ members: [Any]) -> Found? {
        if name == "@count" { return Found(value: Int64(members.count)) }
        var values: [Any] = []
        for member in members {
            guard let found = path.isEmpty ? Found(value: member) : value(path, of: member) else { return nil }
            if let value = found.value { values.append(value) }
        }
        switch name {
        case "@unionOfObjects": return Found(value: values)
        case "@unionOfArrays", "@unionOfSets": return Found(value: flat(values))
        case "@distinctUnionOfObjects": return Found(value: distinct(values))
        case "@distinctUnionOfSets", "@distinctUnionOfArrays": return Found(value: distinct(flat(values)))
        case "@sum", "@avg", "@min", "@max":
            let numbers = values.compactMap { ($0 as? any AttributeScalar)?.attributeValue }.compactMap { value in
                switch value {
                case .integer(let number): Double(number)
                case .double(let number): number
                case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
                default: nil
                }
            }
            guard numbers.count == values.count else { return nil }
            switch name {
            case "@sum": return Found(value: numbers.reduce(0, +))
            case "@avg": return Found(value: numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count))
            case "@min": return Found(value: numbers.min())
            default: return Found(value: numbers.max())
            }
        default: return nil
        }
    }

    /// The values without repetitions, in their order.
    private static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<AnyHashable> = []
        return values.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
    }
}
