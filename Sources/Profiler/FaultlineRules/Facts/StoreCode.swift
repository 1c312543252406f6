internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The code of a change, in the API of the store that the program uses: Faultline's, or Core Data's.
///
/// Most calls have the same names. Those that have not are here.
struct StoreCode {
    let usesCoreData: Bool

    init(_ profile: Profile) { usesCoreData = profile.allProcesses.usesCoreData }

    init(usesCoreData: Bool) { self.usesCoreData = usesCoreData }

    /// Creates a request.
    func request(_ entity: String, of type: String? = nil) -> String {
        usesCoreData
            ? "let request = NSFetchRequest<\(type ?? entity)>(entityName: \"\(entity)\")"
            : "var request = FetchRequest<\(entity)>()"
    }

    /// Fetches the objects with some IDs.
    func objects(_ entity: String, ids: String = "ids", prefetching path: String? = nil) -> [String] {
        guard usesCoreData else {
            guard let path else {
                return ["try context.fetch(FetchRequest<\(entity)>(predicate: .isIn(\"self\", objects: \(ids))))"]
            }
            return [
                "let request = FetchRequest<\(entity)>(", "    predicate: .isIn(\"self\", objects: \(ids)),",
                "    relationshipKeyPathsForPrefetching: [\"\(path)\"])", "let loaded = try context.fetch(request)",
            ]
        }
        return [request(entity), predicate(in: "self", ids)]
            + (path.map { ["request.relationshipKeyPathsForPrefetching = [\"\($0)\"]"] } ?? [])
            + ["let loaded = try context.fetch(request)"]
    }

    /// Fetches the objects with some IDs, and fills those that the program has already.
    func lookUp(_ entity: String) -> [String] {
        let filter = "(predicate: .isIn(\"self\", objects: ids))"
        let request =
            usesCoreData
            ? [request(entity), predicate(in: "self", "ids")] : ["var request = FetchRequest<\(entity)>\(filter)"]
        return request + ["request.returnsObjectsAsFaults = false", "let found = try context.fetch(request)"]
    }

    /// Compares with several values at once.
    func predicate(in keyPath: String, _ values: String) -> String {
        if usesCoreData { return "request.predicate = NSPredicate(format: \"\(keyPath) IN %@\", \(values))" }
        let list = values == "values" ? values : "objects: \(values)"
        return "request.predicate = .isIn(\"\(keyPath)\", \(list))"
    }

    /// Fetches a number for each value of a property, as dictionaries.
    ///
    /// - Parameters:
    ///   - name: The number's key.
    ///   - function: The function in Faultline's API: `"count"`.
    ///   - property: What it is computed from; for a count, `"self"`.
    ///   - predicate: The lines that set the request's predicate.
    func grouped(
        _ entity: String, by keyPath: String, _ name: String, _ function: String, of property: String,
        predicate: [String], result: String = "groups"
    ) -> [String] {
        guard usesCoreData else {
            return [
                "let \(name) = ExpressionDescription(\"\(name)\", .function(.\(function), \"\(property)\"))",
                request(entity),
            ] + predicate + [
                "(request.resultType, request.propertiesToFetch) = (.dictionary, [\"\(keyPath)\", \(name)])",
                "request.propertiesToGroupBy = [\"\(keyPath)\"]",
                "let \(result) = try context.fetchDictionaries(request)",
            ]
        }
        let functions = ["count": "count:", "sum": "sum:", "minimum": "min:", "maximum": "max:"]
        let argument = property == "self" ? keyPath : property
        return [
            "let \(name) = NSExpressionDescription()", "\(name).name = \"\(name)\"",
            "\(name).expression = NSExpression(",
            "    forFunction: \"\(functions[function] ?? function)\", arguments: [NSExpression(forKeyPath: \"\(argument)\")])",
        ] + (function == "count" ? ["\(name).expressionResultType = .integer64AttributeType"] : []) + [
            request(entity, of: "NSDictionary")
        ] + predicate + [
            "request.resultType = .dictionaryResultType",
            "request.propertiesToFetch = [\"\(keyPath)\", \(name)]",
            "request.propertiesToGroupBy = [\"\(keyPath)\"]", "let \(result) = try context.fetch(request)",
        ]
    }

    // MARK: - Names

    /// The name of a property in code; `nil` if only an SQL column is known, and nothing is like its property.
    ///
    /// Core Data's columns are the properties' names in capitals behind a Z.
    func property(_ keyPath: String) -> String? {
        guard EntityEntry.isColumn(keyPath) else { return keyPath }
        return usesCoreData ? keyPath.dropFirst().lowercased() : nil
    }

    /// A comment on a name that was derived from a column.
    func remark(on keyPath: String) -> [String] {
        guard EntityEntry.isColumn(keyPath), let name = property(keyPath) else { return [] }
        return ["// \"\(name)\": the property of the column \(keyPath), with its own capitals"]
    }
}
