import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

/// Authors with books, and books with a publisher.
@Suite("R01: one finding for each prefetch")
struct LibraryPrefetchTests {
    private struct Library {
        var trace = TraceBuilder()
        let author, book, publisher, books, publisherName, shape, site, loop, body: DictionaryID

        init(prefetch: [String] = []) {
            author = trace.entity("Author", [.init(name: "books", type: "toMany", destination: "Book")])
            book = trace.entity("Book", [.init(name: "publisher", type: "toOne", destination: "Publisher")])
            publisher = trace.entity("Publisher")
            books = trace.define(.name(NameEntry(name: "books")))
            publisherName = trace.define(.name(NameEntry(name: "publisher")))
            shape = trace.define(.shape(ShapeEntry(entity: "Author", prefetch: prefetch)))
            site = trace.site(10, "authors()")
            loop = trace.stack(20)
            body = trace.stack(21)
        }

        mutating func fetch() -> EventID {
            var fetch = TraceEvent.Fetch()
            fetch.entity = author
            fetch.shape = shape
            fetch.rows = 10
            fetch.trips = 1
            return trace.event(.fetch(fetch), duration: 30_000, site: site)
        }

        mutating func fault(
            _ type: TraceEvent.Fault.FaultType, _ entity: DictionaryID, _ relationship: DictionaryID,
            of owner: DictionaryID, object: UInt64, origin: EventID, at stack: DictionaryID
        ) {
            var fault = TraceEvent.Fault()
            fault.type = type
            fault.source = .store
            fault.entity = entity
            fault.relationship = relationship
            fault.relationshipEntity = owner
            fault.object = object
            fault.origin = origin
            fault.filled = type == .toMany ? 3 : 1
            trace.event(.fault(fault), duration: 15_000, stack: stack)
        }

        var findings: [Finding] {
            Analysis(Profile(trace.closed()), rules: [PrefetchRule()]).findings
        }
    }

    @Test(arguments: [true, false])
    func `A to-many relationship and the members that fire after it are one finding`(_ isNamed: Bool) throws {
        var library = Library()
        let fetch = library.fetch()
        for author in 1...10 as ClosedRange<UInt64> {
            library.fault(
                .toMany, library.author, library.books, of: library.author, object: author, origin: fetch,
                at: library.loop)
            for book in 0..<3 as Range<UInt64> {
                let (name, owner) = isNamed ? (library.books, library.author) : (0, 0)
                library.fault(
                    .object, library.book, name, of: owner, object: 100 + author * 3 + book, origin: fetch,
                    at: library.body)
            }
        }
        let found = library.findings
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.title.text == "Prefetch \"books\" with the fetch of Author")
        #expect(finding.seenAt.map(\.count) == [30, 10])
        #expect(finding.evidence.first { $0.name == "trips" }?.value == 40)
    }

    @Test(arguments: [[], ["books"]])
    func `Faults one level deeper get a key path of two parts`(_ prefetch: [String]) throws {
        var library = Library(prefetch: prefetch)
        let fetch = library.fetch()
        for author in 1...10 as ClosedRange<UInt64> {
            if prefetch.isEmpty {
                library.fault(
                    .toMany, library.author, library.books, of: library.author, object: author, origin: fetch,
                    at: library.loop)
            }
            library.fault(
                .toOne, library.publisher, library.publisherName, of: library.book, object: 50 + author, origin: fetch,
                at: library.body)
        }
        let found = library.findings
        #expect(found.count == (prefetch.isEmpty ? 2 : 1))
        let deep = try #require(found.first { $0.title.text.contains("publisher") })
        #expect(deep.title.text == "Prefetch \"books.publisher\" with the fetch of Author")
        let all = (prefetch + ["books.publisher"]).map { "\"\($0)\"" }.joined(separator: ", ")
        #expect(deep.code == ["request.relationshipKeyPathsForPrefetching = [\(all)]"])
        #expect(Set(found.map(\.change)).count == 1)
    }

    @Test func `A key path that the trace does not show is reported as unknown`() throws {
        var library = Library()
        let fetch = library.fetch()
        for book in 1...10 as ClosedRange<UInt64> {
            library.fault(
                .toOne, library.publisher, library.publisherName, of: library.book, object: book, origin: fetch,
                at: library.body)
        }
        let finding = try #require(library.findings.first)
        #expect(finding.code.isEmpty)
        #expect(
            finding.fix.text
                == "Add the key path that ends in Book.publisher to relationshipKeyPathsForPrefetching of this fetch. "
                + "The trace does not show the path from Author to it.")
    }
}
