package import FaultlineTrace

/// A key for evidence about objects: their entity, and a line of the program.
package struct EntitySite: Sendable, Hashable {
    /// The name of the objects' entity.
    package var entity: String
    /// The line, or `nil` if the trace does not have it.
    package var site: CallSite?

    package init(entity: String, site: CallSite?) { (self.entity, self.site) = (entity, site) }
}

extension EntitySite: NamedSite {
    package var name: String { entity }

    package init(name: String, site: CallSite?) { self.init(entity: name, site: site) }
}
