internal import Foundation

/// The expressions that the file has in one form or the other.
extension MappingReader {
    /// Returns the expression that an object has as an archive.
    func expression(
        _ object: MappingFile.Object, _ name: String, _ entry: Entry, _ mappings: [EntityMapping]
    ) throws(ModelError) -> MappingExpression? {
        guard let new = entry.new else { return nil }
        let expression: MappingExpression
        do throws(ArchiveFailure) {
            guard let stored = try object.storedExpression else { return nil }
            expression = stored
        } catch {
            throw self.error(
                .invalidExpression, object, new, name,
                "the archive of the expression of '\(new.name).\(name)' \(error.text); enter the expression again in Xcode"
            )
        }
        try check(expression, object, name, entry, mappings)
        return expression
    }

    /// Returns the expression of an object that names a key path and a mapping instead.
    func instances(
        _ object: MappingFile.Object, _ name: String, _ entry: Entry, _ mappings: [EntityMapping]
    ) throws(ModelError) -> MappingExpression? {
        guard object.text("valueexpressiondata") == nil, let mapping = object.text("sourcemappingname"),
            let new = entry.new
        else { return nil }
        var path: MappingExpression = .source(name)
        if let text = object.text("sourcekeypath") {
            do throws(ModelError) {
                path = try MappingExpression(format: text.hasPrefix("$") ? text : "$source.\(text)")
            } catch {
                throw self.error(
                    .invalidExpression, object, new, name,
                    "the key path '\(text)' of '\(new.name).\(name)' is invalid; correct it in Xcode")
            }
        }
        let expression = MappingExpression.destinationInstances(forEntityMappingNamed: mapping, sourceInstances: path)
        try check(expression, object, name, entry, mappings)
        return expression
    }

    /// Checks that the names in an expression exist.
    private func check(
        _ expression: MappingExpression, _ object: MappingFile.Object, _ name: String, _ entry: Entry,
        _ mappings: [EntityMapping]
    ) throws(ModelError) {
        guard let new = entry.new else { return }
        if let old = entry.old, let missing = defaults.missingProperty(in: expression, from: old) {
            throw error(
                .invalidMapping, object, new, name,
                "the expression '\(expression)' of '\(new.name).\(name)' reads '\(missing)', which the older model does not have; choose other models, or correct the expression in Xcode"
            )
        }
        if let missing = expression.mappingNames.first(where: { name in !mappings.contains { $0.name == name } }) {
            throw error(
                .invalidMapping, object, new, name,
                "the expression of '\(new.name).\(name)' names the mapping '\(missing)', but the file has only \(mappings.map { "'\($0.name)'" }.joined(separator: ", ")); correct it in Xcode"
            )
        }
    }
}
