import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// A program of eight operations on a table each, of which one can be made to do more work without any count changing.
///
///     work <store> prepare <rows> <length> [<permille>]
///     work <store> run <times>
///
/// Each operation searches the texts of its table in SQLite. Longer texts take longer to search, and are counted all the
/// same: `permille` is how long those of the last table are, in thousandths of what they are without.
struct Documents {
    let store: String
    let numbers: [Int]

    private static let names = (0..<8).map { "Document\($0)" }

    func run(isPreparing: Bool) throws {
        let model = try ManagedObjectModel(
            entities: Self.names.map {
                EntityDescription($0, attributes: [AttributeDescription("text", .string, isOptional: false)])
            })
        let container = try PersistentContainer(
            name: "Documents", managedObjectModel: model, storeURL: URL(fileURLWithPath: store))
        let context = container.newBackgroundContext()
        try context.performAndWait { try isPreparing ? fill(context) : work(context) }
    }

    private func fill(_ context: ManagedObjectContext) throws {
        let (rows, length) = (numbers[0], numbers[1])
        let permille = numbers.count > 2 ? numbers[2] : 1000
        for (index, name) in Self.names.enumerated() {
            // The tables differ in size, as those of programs do.
            let letters = index == Self.names.count - 1 ? length * permille / 1000 : length * (index + 2) / 4
            for _ in 0..<rows {
                let document = context.insertNewObject(forEntityName: name)
                document.setValue(String(repeating: "abcdefgh ", count: letters / 9), forKey: "text")
            }
        }
        try context.save()
    }

    private func work(_ context: ManagedObjectContext) throws {
        for _ in 0..<numbers[0] {
            try Faultline.scope("search", kind: .request) {
                for (index, name) in Self.names.enumerated() {
                    let request = FetchRequest<ManagedObject>(
                        entityName: name, predicate: try FetchPredicate(format: "text CONTAINS %@", "zebra"))
                    print(try context.count(for: request, line: UInt(1000 + index)))
                }
            }
        }
    }
}
