/// A section of a ``FetchedResultsController``, as it was when it was requested.
public struct FetchedResultsSection<Object: ManagedObject>: RandomAccessCollection {
    private let content: FetchedResultsContent
    private let range: Range<Int>
    /// The section name that the objects share; empty without sections.
    public let name: String
    /// The title in the section index: the first letter of the name.
    public let indexTitle: String

    init(_ content: FetchedResultsContent, _ section: FetchedResultsContent.Section, indexTitle: String) {
        self.content = content
        range = section.range
        name = section.name
        self.indexTitle = indexTitle
    }

    /// The position of the first element: 0.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { range.count }

    /// The object at an index of the section.
    ///
    /// With a batch size, access loads the object's batch.
    public subscript(position: Int) -> Object {
        requireCorrectUse(
            indices.contains(position), "Index \(position) is out of range; section '\(name)' has \(count) objects.")
        return unsafeDowncast(content.object(range.lowerBound + position), to: Object.self)
    }

    /// The number of objects; loads no rows.
    public var numberOfObjects: Int { range.count }
}

@available(*, unavailable)
extension FetchedResultsSection: Sendable {}
