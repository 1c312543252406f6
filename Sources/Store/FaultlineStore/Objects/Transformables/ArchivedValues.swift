import FaultlineModel
import Foundation

/// Decodes property lists and archives of `NSKeyedArchiver` without running code of the classes that they name.
struct ArchivedValues {
    /// `nil` for a property list that is not an archive.
    private let archive: KeyedArchive?
    /// The objects that were decoded, by number, with how many objects they contain and how many levels deep these are nested.
    private var known: [Int: (value: Any?, weight: Int, levels: Int)] = [:]
    private var unfinished: Set<Int> = []
    private let limit: Int
    /// The number of objects so far; one that is referred to twice counts twice.
    private var weight = 0
    /// The depth of the deepest object since ``object(_:in:depth:)`` last reset it.
    private var deepest = 0

    /// Decodes a property list, or the root object of an archive.
    static func value(_ data: Data) throws(ArchiveFailure) -> Any? {
        let limit = PropertyListValue.Limit.value(data)
        let list = try PropertyListValue(data, limit: limit)
        var values = Self(archive: try KeyedArchive(list, limit: limit), limit: limit)
        return try values.value(of: values.archive?.root ?? list, depth: 0)
    }

    private init(archive: KeyedArchive?, limit: Int) {
        (self.archive, self.limit) = (archive, limit)
    }

    /// Decodes an object once, however many refer to it.
    ///
    /// Throws for a reference cycle, which values cannot represent.
    private mutating func object(_ number: Int, in archive: KeyedArchive, depth: Int) throws(ArchiveFailure) -> Any? {
        if let (value, weight, levels) = known[number] {
            try reach(depth + levels)
            try add(weight)
            return value
        }
        guard unfinished.insert(number).inserted else { throw ArchiveFailure("has an object that contains itself") }
        defer { unfinished.remove(number) }
        let object = try archive.resolve(.reference(number))
        // The first object represents nil.
        if number == 0, object == .string("$null") { return nil }
        let before = (weight, deepest)
        deepest = depth
        let value = try value(of: object, depth: depth + 1)
        known[number] = (value, weight - before.0, deepest - depth)
        deepest = max(deepest, before.1)
        return value
    }

    /// Checks the depth of an object, or of the deepest one in an object that was decoded elsewhere.
    private mutating func reach(_ depth: Int) throws(ArchiveFailure) {
        guard depth < PropertyListValue.Limit.depth else { throw ArchiveFailure("nests objects too deep") }
        deepest = max(deepest, depth)
    }

    private mutating func add(_ objects: Int) throws(ArchiveFailure) {
        weight += objects
        guard weight <= limit else { throw ArchiveFailure("expands to more than \(limit) objects") }
    }

    private mutating func value(of object: PropertyListValue, depth: Int) throws(ArchiveFailure) -> Any? {
        try reach(depth)
        try add(1)
        switch object {
        case .null: return nil
        case .boolean(let value): return value
        case .integer(let value): return value
        case .unsigned(let value): return value
        case .real(let value): return value
        case .date(let value): return value
        case .data(let value): return value
        case .string(let value): return value
        case .reference(let number):
            guard let archive else { return Int64(number) }
            return try self.object(number, in: archive, depth: depth)
        case .array(let members):
            var values: [Any] = []
            for member in members {
                if let value = try value(of: member, depth: depth + 1) { values.append(value) }
            }
            return values
        case .dictionary(var fields):
            guard let archive, case .reference? = fields["$class"], let type = fields.removeValue(forKey: "$class")
            else { return try values(fields, depth: depth) }
            return try instance(of: try Self.classNames(type, in: archive), fields, depth: depth)
        }
    }

    private mutating func values(
        _ fields: [String: PropertyListValue], depth: Int
    ) throws(ArchiveFailure) -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, field) in fields { values[name] = try value(of: field, depth: depth + 1) }
        return values
    }

    private static func classNames(
        _ type: PropertyListValue, in archive: KeyedArchive
    ) throws(ArchiveFailure) -> [String] {
        let type = try archive.object(type)
        let name = try archive.string(type["$classname"])
        guard let classes = type["$classes"]?.array else { return [name] }
        try archive.count(classes.count)
        let names = classes.compactMap(\.string)
        return names.first == name ? names : [name] + names
    }

    /// Converts an object of a Foundation class to a Swift value, and any other to an ``ArchivedObject``.
    private mutating func instance(
        of classNames: [String], _ fields: [String: PropertyListValue], depth: Int
    ) throws(ArchiveFailure) -> Any? {
        let values = try values(fields, depth: depth)
        for name in classNames {
            switch name {
            case "NSString": return values["NS.string"] as? String ?? (values["NS.bytes"] as? Data).map(Self.text)
            case "NSData": return values["NS.data"] as? Data ?? values["NS.bytes"] as? Data
            case "NSDate": return (values["NS.time"] as? Double).map { Date(timeIntervalSinceReferenceDate: $0) }
            case "NSNull": return NSNull()
            case "NSUUID":
                guard let bytes = values["NS.uuidbytes"] as? Data, bytes.count == 16 else { return nil }
                return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            case "NSURL":
                let base = values["NS.base"] as? URL
                return (values["NS.relative"] as? String).flatMap { URL(string: $0, relativeTo: base) }
            case "NSArray", "NSSet", "NSOrderedSet": return Self.members(values)
            case "NSDictionary":
                guard let keys = values["NS.keys"] as? [Any], let objects = values["NS.objects"] as? [Any],
                    keys.count == objects.count
                else { return nil }
                var dictionary: [AnyHashable: Any] = [:]
                for (key, object) in zip(keys, objects) {
                    if let key = key as? AnyHashable { dictionary[key] = object }
                }
                return dictionary
            default: continue
            }
        }
        return ArchivedObject(className: classNames[0], classNames: classNames, values: values)
    }

    private static func text(_ bytes: Data) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func members(_ values: [String: Any]) -> [Any] {
        if let members = values["NS.objects"] as? [Any] { return members }
        // The encoding of ordered sets.
        var members: [Any] = []
        while let member = values["NS.object.\(members.count)"] { members.append(member) }
        return members
    }
}
