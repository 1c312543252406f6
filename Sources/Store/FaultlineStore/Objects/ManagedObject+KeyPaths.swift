import FaultlineModel
import Foundation

/// Key-value coding: values at the end of key paths, and several values at once.
extension ManagedObject {
    /// Returns the value at the end of a key path.
    ///
    ///     book.value(forKeyPath: "author.name")
    ///     author.value(forKeyPath: "books.@sum.price")
    ///
    /// Without a to-many relationship, the value is that of ``value(forKey:fileID:line:function:)``; `nil` if a
    /// relationship on the way has no object. A to-many relationship yields a `Set`, or an array if it is ordered or a
    /// fetched property: its objects, or what the rest of the path yields for each of them. A missing value is left out
    /// of a set, and is `NSNull` in an array.
    ///
    /// A collection operator reduces the values of all objects that the path before it reaches, also through several
    /// to-many relationships:
    ///
    /// | operator | value |
    /// | --- | --- |
    /// | `@count` | the number of objects, an `Int` |
    /// | `@sum`, `@avg` | a `Decimal` for decimals, otherwise a `Double`; a missing value counts as 0, unlike in a fetch |
    /// | `@min`, `@max` | a value of the attribute's type, or `nil` if there is none |
    /// | `@distinctUnionOfObjects` | an array with each different value once |
    ///
    /// Reading fires faults, one by one where nothing was prefetched; a fetch of dictionaries computes the same in one
    /// statement. Traps if the path has no meaning for the object's entity.
    public final func value(
        forKeyPath keyPath: String, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) -> Any? {
        let reader = KeyPathReader(keyPath, (fileID, line, function))
        return reader.value(of: self, reader.names[...])
    }

    /// Sets the property at the end of a key path.
    ///
    /// Does nothing if a relationship on the way has no object. Through a to-many relationship, the property of each
    /// object is set. Traps if the path has no meaning for the object's entity, if it has a collection operator, or if
    /// the value does not fit the property.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        let reader = KeyPathReader(keyPath, nil)
        reader.set(value, of: self, reader.names[...])
    }

    /// Returns the values of properties, by name.
    ///
    /// Values have the form that ``changedValues()`` describes: a missing one is `NSNull`, and a to-many relationship is
    /// a `Set` or, if it is ordered, an array. Traps if the entity has no such property.
    public final func dictionaryWithValues(
        forKeys keys: [String], fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys {
            if let index = runtime.schema.index(of: key), runtime.schema.properties[index].isToMany {
                values[key] = Self.plain(members(index), runtime.schema.properties[index])
            } else {
                values[key] = value(forKey: key, fileID: fileID, line: line, function: function) ?? NSNull()
            }
        }
        return values
    }

    /// Sets several properties by name with ``setValue(_:forKey:)``, in no particular order.
    ///
    /// `NSNull` stands for no value, so the method accepts what ``dictionaryWithValues(forKeys:fileID:line:function:)``
    /// returns.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }
}

/// Reads and sets values at the end of one key path.
private struct KeyPathReader {
    let names: [String]
    private let keyPath: String
    /// The caller, for the fetch of a fetched property.
    private let site: CallerSite?

    init(_ keyPath: String, _ site: CallerSite?) {
        self.keyPath = keyPath
        self.site = site
        names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// A step of the path from an object.
    private enum Step {
        /// An attribute, or an element of a composite attribute, at the end of the path.
        case attribute(String)
        case one(ManagedObject?)
        case many(ContiguousArray<ManagedObject>, isOrdered: Bool)
    }

    private func step(from object: ManagedObject, _ names: ArraySlice<String>) -> Step {
        let name = names.first ?? ""
        if FetchPath.isOperator(name) {
            incorrectUse(
                "'\(keyPath)' applies \(name) to one object of '\(object.entityName)', not to a collection; put the name of a to-many relationship before it."
            )
        }
        let schema = object.runtime.schema
        guard let index = schema.index(of: name) else {
            if let site, schema.fetchedProperties[name] != nil {
                let found = object.fetchedObjects(
                    forKey: name, fileID: site.fileID, line: site.line, function: site.function)
                return .many(ContiguousArray(found), isOrdered: true)
            }
            if !schema.elements(of: name).isEmpty { return .attribute(names.joined(separator: ".")) }
            incorrectUse(
                "'\(keyPath)' is not a valid key path because '\(object.entityName)' has no property '\(name)'; correct the key path."
            )
        }
        let property = schema.properties[index]
        switch property.kind {
        case .attribute:
            requireCorrectUse(
                names.count == 1,
                "'\(keyPath)' continues past '\(name)', which is an attribute of '\(object.entityName)'; correct the key path."
            )
            return .attribute(name)
        case .toOne: return .one(object.toOne(index))
        case .toMany, .manyToMany: return .many(object.members(index), isOrdered: property.isOrdered)
        }
    }

    // MARK: - Reading

    func value(of object: ManagedObject, _ names: ArraySlice<String>) -> Any? {
        let rest = names.dropFirst()
        switch step(from: object, names) {
        case .attribute(let name): return object.value(forKey: name)
        case .one(let destination): return rest.isEmpty ? destination : destination.flatMap { value(of: $0, rest) }
        case .many(let members, let isOrdered):
            if let position = rest.firstIndex(where: FetchPath.isOperator) {
                let objects = self.objects(from: members, rest[..<position])
                return reduce(objects, rest[position], rest[(position + 1)...])
            }
            if rest.isEmpty { return isOrdered ? Array(members) : Set(members) }
            let values = members.map { value(of: $0, rest) }
            if isOrdered { return values.map { $0 ?? NSNull() } }
            return Set(values.compactMap { $0.map { hashable($0) } })
        }
    }

    private func hashable(_ value: Any) -> AnyHashable {
        guard let value = value as? AnyHashable else {
            incorrectUse(
                "'\(keyPath)' collects values of type \(type(of: value)), which cannot be elements of a set; read the objects, and the value of each."
            )
        }
        return value
    }

    /// The objects at the end of a path from several objects.
    private func objects(
        from objects: ContiguousArray<ManagedObject>, _ names: ArraySlice<String>
    ) -> ContiguousArray<ManagedObject> {
        guard !names.isEmpty else { return objects }
        var found: ContiguousArray<ManagedObject> = []
        for object in objects {
            switch step(from: object, names) {
            case .attribute(let name):
                incorrectUse(
                    "'\(keyPath)' applies a collection operator to '\(name)', which is an attribute; put the operator before it."
                )
            case .one(let destination): if let destination { found.append(destination) }
            case .many(let members, _): found += members
            }
        }
        return self.objects(from: found, names.dropFirst())
    }

    /// Applies a collection operator to objects, or to their values at the end of a path.
    private func reduce(
        _ objects: ContiguousArray<ManagedObject>, _ name: String, _ names: ArraySlice<String>
    ) -> Any? {
        if name == FetchPath.CollectionOperator.count.rawValue { return objects.count }
        let isUnion = name == Self.union
        guard isUnion || FetchPath.CollectionOperator(rawValue: name) != nil else {
            incorrectUse(
                "'\(keyPath)' uses \(name), which key paths do not support; use @count, @sum, @avg, @min, @max or \(Self.union)."
            )
        }
        requireCorrectUse(
            !names.isEmpty || isUnion, "'\(keyPath)' names no attribute for \(name); add one: '\(name).price'.")
        let owners = self.objects(from: objects, names.dropLast())
        let values = owners.map { owner in names.isEmpty ? owner : value(of: owner, names.suffix(1)) }
        if isUnion {
            var seen: Set<AnyHashable> = []
            return values.compactMap { $0 }.filter { seen.insert(hashable($0)).inserted }
        }
        let scalars = values.map { value in value.map { scalar($0, name) } }
        switch FetchPath.CollectionOperator(rawValue: name) {
        case .sum:
            let (sum, decimal) = sum(scalars, name)
            return decimal.map { $0 as Any } ?? sum
        case .average:
            let (sum, decimal) = sum(scalars, name)
            if let decimal { return decimal / Decimal(scalars.count) }
            return scalars.isEmpty ? 0.0 : sum / Double(scalars.count)
        case .minimum: return scalars.compactMap { $0 }.min { $0.isLess(than: $1) }?.plain
        case .maximum: return scalars.compactMap { $0 }.max { $0.isLess(than: $1) }?.plain
        case .count, nil: return nil
        }
    }

    private static let union = "@distinctUnionOfObjects"

    private func scalar(_ value: Any, _ name: String) -> AttributeValue {
        guard let value = (value as? any AttributeScalar)?.attributeValue else {
            incorrectUse("'\(keyPath)' applies \(name) to a \(type(of: value)); name an attribute.")
        }
        return value
    }

    /// The sum of numbers, and the exact sum if they are decimals.
    private func sum(_ values: [AttributeValue?], _ name: String) -> (Double, Decimal?) {
        var sum = 0.0
        var decimals: Decimal?
        for case let value? in values {
            guard value.type.domain == .number else {
                incorrectUse("'\(keyPath)' applies \(name) to a value of type \(value.type.rawValue); name a number.")
            }
            if case .decimal(let value) = value {
                decimals = (decimals ?? 0) + value
            } else {
                sum += Double(value) ?? 0
            }
        }
        return (sum, decimals)
    }

    // MARK: - Setting

    func set(_ value: Any?, of object: ManagedObject, _ names: ArraySlice<String>) {
        if let name = names.first(where: FetchPath.isOperator) {
            incorrectUse("'\(keyPath)' cannot be set, because \(name) computes a value; name a property.")
        }
        guard names.count > 1 else { return object.setValue(value, forKey: names.first ?? "") }
        switch step(from: object, names) {
        case .attribute(let name): object.setValue(value, forKey: name)
        case .one(let destination): if let destination { set(value, of: destination, names.dropFirst()) }
        case .many(let members, _): for member in members { set(value, of: member, names.dropFirst()) }
        }
    }
}

extension FetchPath {
    /// Whether a name in a key path is a collection operator.
    static func isOperator(_ name: String) -> Bool { name.hasPrefix("@") }
}

extension AttributeValue {
    /// Orders values as SQLite does, and decimals exactly.
    fileprivate func isLess(than other: AttributeValue) -> Bool {
        if case .decimal(let left) = self, case .decimal(let right) = other { return left < right }
        return SQLValue(self).order(SQLValue(other)) < 0
    }
}
