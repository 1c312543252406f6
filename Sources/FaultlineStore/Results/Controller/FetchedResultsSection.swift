/// One of a ``FetchedResultsController``'s sections, as it was when it was asked for.
public struct FetchedResultsSection<Object: ManagedObject>: RandomAccessCollection {
    private let content: FetchedResultsContent
    private let range: Range<Int>
    /// What the objects have in common; empty without sections.
    public let name: String
    /// What stands in an index of the sections: the first letter of the name.
    public let indexTitle: String

    init(_ content: FetchedResultsContent, _ section: FetchedResultsContent.Section, indexTitle: String) {
        self.content = content
        range = section.range
        name = section.name
        self.indexTitle = indexTitle
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { range.count }

    /// The object at a place of the section.
    ///
    /// With a batch size, asking for it loads the batch that it is in.
    public subscript(position: Int) -> Object {
        requireCorrectUse(
            indices.contains(position), "There is no object \(position) among \(count) of section '\(name)'.")
        return unsafeDowncast(content.object(range.lowerBound + position), to: Object.self)
    }

    /// How many objects there are; takes no look at any.
    public var numberOfObjects: Int { range.count }
}

@available(*, unavailable)
extension FetchedResultsSection: Sendable {}
