import Foundation

/// Decodes archives of `NSKeyedArchiver` without running code of the classes that they name.
///
/// An archive is a binary property list: `$objects` contains all objects, and `$top` identifies the root. An object is
/// a plain value, or a dictionary of its keys with a reference `$class` to its class names.
struct KeyedArchive {
    private let list: BinaryPropertyList
    private let objects: [Int]
    private let root: Int
    private var known: [Int: Any?] = [:]
    private var unfinished: Set<Int> = []
    private var budget: Int

    /// Returns `nil` for a property list that is not an archive.
    init?(_ list: BinaryPropertyList) throws(BinaryPropertyList.Malformed) {
        guard case .dictionary(let pairs) = try list.object(list.top) else { return nil }
        let fields = try Self.fields(pairs, list)
        guard case .string("NSKeyedArchiver")? = fields["$archiver"], case .array(let objects)? = fields["$objects"],
            case .dictionary(let top)? = fields["$top"]
        else { return nil }
        guard case .uid(let root)? = try Self.fields(top, list)["root"] else { throw BinaryPropertyList.Malformed() }
        self.list = list
        self.objects = objects
        self.root = root
        budget = list.size
    }

    /// Decodes the root object.
    mutating func value() throws(BinaryPropertyList.Malformed) -> Any? {
        try object(root, depth: 0)
    }

    private static func fields(
        _ pairs: [(key: Int, value: Int)], _ list: BinaryPropertyList
    ) throws(BinaryPropertyList.Malformed) -> [String: BinaryPropertyList.Object] {
        var fields: [String: BinaryPropertyList.Object] = [:]
        for (key, value) in pairs {
            if case .string(let name) = try list.object(key) { fields[name] = try list.object(value) }
        }
        return fields
    }

    /// Decodes an object once, however many refer to it.
    ///
    /// Throws for a reference cycle, which values cannot represent.
    private mutating func object(_ uid: Int, depth: Int) throws(BinaryPropertyList.Malformed) -> Any? {
        if let value = known[uid] { return value }
        guard objects.indices.contains(uid), depth < BinaryPropertyList.depthLimit, unfinished.insert(uid).inserted
        else { throw BinaryPropertyList.Malformed() }
        defer { unfinished.remove(uid) }
        let object = try list.object(objects[uid])
        // The first object represents nil.
        if uid == 0, case .string("$null") = object { return nil }
        let value = try value(of: object, depth: depth + 1)
        known[uid] = .some(value)
        return value
    }

    private mutating func value(
        of object: BinaryPropertyList.Object, depth: Int
    ) throws(BinaryPropertyList.Malformed) -> Any? {
        budget -= 1
        guard budget >= 0, depth < BinaryPropertyList.depthLimit else { throw BinaryPropertyList.Malformed() }
        switch object {
        case .uid(let uid): return try self.object(uid, depth: depth)
        case .array(let positions):
            var values: [Any] = []
            for position in positions {
                if let value = try value(of: try list.object(position), depth: depth + 1) { values.append(value) }
            }
            return values
        case .dictionary(let pairs):
            var fields = try Self.fields(pairs, list)
            guard case .uid(let type)? = fields.removeValue(forKey: "$class") else {
                return try values(fields, depth: depth)
            }
            return try instance(of: try classNames(type), fields, depth: depth)
        default: return object.plain
        }
    }

    private mutating func values(
        _ fields: [String: BinaryPropertyList.Object], depth: Int
    ) throws(BinaryPropertyList.Malformed) -> [String: Any] {
        var values: [String: Any] = [:]
        for (name, field) in fields { values[name] = try value(of: field, depth: depth + 1) }
        return values
    }

    private func classNames(_ uid: Int) throws(BinaryPropertyList.Malformed) -> [String] {
        guard objects.indices.contains(uid), case .dictionary(let pairs) = try list.object(objects[uid]) else {
            throw BinaryPropertyList.Malformed()
        }
        let fields = try Self.fields(pairs, list)
        guard case .string(let name)? = fields["$classname"] else { throw BinaryPropertyList.Malformed() }
        guard case .array(let positions)? = fields["$classes"] else { return [name] }
        var names: [String] = []
        for position in positions {
            if case .string(let name) = try list.object(position) { names.append(name) }
        }
        return names.first == name ? names : [name] + names
    }

    /// Converts an object of a Foundation class to a Swift value, and any other to an ``ArchivedObject``.
    private mutating func instance(
        of classNames: [String], _ fields: [String: BinaryPropertyList.Object], depth: Int
    ) throws(BinaryPropertyList.Malformed) -> Any? {
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

extension BinaryPropertyList {
    /// Decodes the whole list to Swift values.
    func value() throws(Malformed) -> Any? {
        var budget = size
        return try value(top, depth: 0, &budget)
    }

    private func value(_ position: Int, depth: Int, _ budget: inout Int) throws(Malformed) -> Any? {
        budget -= 1
        guard budget >= 0, depth < Self.depthLimit else { throw Malformed() }
        switch try object(position) {
        case .array(let positions):
            var values: [Any] = []
            for position in positions {
                if let value = try value(position, depth: depth + 1, &budget) { values.append(value) }
            }
            return values
        case .dictionary(let pairs):
            var values: [AnyHashable: Any] = [:]
            for (key, value) in pairs {
                if let key = try self.value(key, depth: depth + 1, &budget) as? AnyHashable {
                    values[key] = try self.value(value, depth: depth + 1, &budget)
                }
            }
            return values
        case let object: return object.plain
        }
    }
}

extension BinaryPropertyList.Object {
    /// The value of an object that is not a collection.
    fileprivate var plain: Any? {
        switch self {
        case .null, .array, .dictionary: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .real(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .string(let value): value
        case .uid(let value): Int64(value)
        }
    }
}
