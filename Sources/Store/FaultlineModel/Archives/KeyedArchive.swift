internal import Foundation

/// The objects of a keyed archive, which Foundation's `NSKeyedArchiver` writes.
///
/// An archive is a property list of numbered objects, which refer to each other by number.
package struct KeyedArchive {
    package typealias Object = [String: PropertyListValue]

    /// The object from which the archive was made.
    package let root: PropertyListValue
    private let objects: [PropertyListValue]
    /// The number of objects that were read, several times if several others refer to them.
    private let reads: Reads

    private final class Reads {
        var count = 0
    }

    private let limit: Int

    /// - Parameter limit: The largest number of objects, one of ``PropertyListValue/Limit``.
    /// - Throws: ``ArchiveFailure`` if the data is not an archive.
    init(_ data: Data, limit: Int) throws(ArchiveFailure) {
        guard let archive = try Self(try PropertyListValue(data, limit: limit), limit: limit) else {
            throw ArchiveFailure("is not a keyed archive")
        }
        self = archive
    }

    /// - Parameter limit: The largest number of objects to read, several times if several others refer to them.
    /// - Returns: `nil` for a property list that is not an archive.
    /// - Throws: ``ArchiveFailure`` if the archive lacks its objects.
    package init?(_ list: PropertyListValue, limit: Int) throws(ArchiveFailure) {
        guard let list = list.dictionary, list["$archiver"]?.string == "NSKeyedArchiver" else { return nil }
        guard let objects = list["$objects"]?.array, let root = list["$top"]?.dictionary?["root"] else {
            throw ArchiveFailure("is a keyed archive without objects")
        }
        (self.root, self.objects, self.limit, reads) = (root, objects, limit, Reads())
    }

    /// Returns the value that a reference leads to, or the value itself if it is none.
    package func resolve(_ value: PropertyListValue?) throws(ArchiveFailure) -> PropertyListValue {
        try count(1)
        guard let value else { throw ArchiveFailure("lacks an object") }
        guard case .reference(let number) = value else { return value }
        guard objects.indices.contains(number) else {
            throw ArchiveFailure("refers to object \(number), but has only \(objects.count)")
        }
        return objects[number]
    }

    /// Returns the value that a reference leads to, or `nil` if the object has no such key, or nothing is there.
    func value(_ key: String, of object: Object) throws(ArchiveFailure) -> PropertyListValue? {
        guard let value = object[key] else { return nil }
        switch try resolve(value) {
        case .null, .string("$null"): return nil
        case let found: return found
        }
    }

    package func object(_ value: PropertyListValue?) throws(ArchiveFailure) -> Object {
        guard let object = try resolve(value).dictionary else { throw ArchiveFailure("lacks an object") }
        return object
    }

    package func string(_ value: PropertyListValue?) throws(ArchiveFailure) -> String {
        guard let text = try resolve(value).string else { throw ArchiveFailure("lacks a name") }
        return text
    }

    /// Counts objects that are read.
    package func count(_ number: Int) throws(ArchiveFailure) {
        reads.count += number
        guard reads.count <= limit else { throw ArchiveFailure("refers to its objects too often") }
    }

    /// Returns the elements of an array or of a set.
    func list(_ value: PropertyListValue?) throws(ArchiveFailure) -> [PropertyListValue] {
        guard let values = try object(value)["NS.objects"]?.array else { throw ArchiveFailure("lacks a list") }
        try count(values.count)
        return values
    }

    /// Returns the values of a dictionary by their keys.
    func dictionary(_ value: PropertyListValue?) throws(ArchiveFailure) -> [(key: String, value: PropertyListValue)] {
        let object = try object(value)
        guard let keys = object["NS.keys"]?.array, let values = object["NS.objects"]?.array, keys.count == values.count
        else { throw ArchiveFailure("lacks a dictionary") }
        try count(keys.count)
        return try zip(keys, values).map { key, value throws(ArchiveFailure) in (try string(key), value) }
    }

    func className(_ object: Object) throws(ArchiveFailure) -> String {
        try string(try self.object(object["$class"])["$classname"])
    }
}
