package import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
package import Foundation

/// A shopping list: a list screen that scrolls through all items, and an item view that opens and closes.
///
/// It comes in two forms of the same work, with and without flaws; see ``GroceriesFlaws``.
package struct Groceries {
    package let form: GroceriesForm
    let container: PersistentContainer
    private let recorder: Recorder

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - url: The store, which ``prepare(_:at:)`` created for a form that keeps photos in the same place.
    ///   - recorder: The recorder; by default the program's own.
    package init(_ form: GroceriesForm, at url: URL, recorder: Recorder = .shared) throws {
        self.form = form
        self.recorder = recorder
        container = try Self.container(form, url, recorder)
    }

    private static func container(
        _ form: GroceriesForm, _ url: URL, _ recorder: Recorder
    ) throws -> PersistentContainer {
        let hasPhotoInRow = form.flaws.contains(.photoInRow)
        var description = PersistentStoreDescription(sampleAt: url)
        // A sample needs no protection from a power cut.
        description.synchronization = .off
        return try PersistentContainer(
            name: "Groceries", managedObjectModel: GroceriesModel.make(photoInRow: hasPhotoInRow),
            storeDescription: description,
            classes: [Item.self, Unit.self, LocationAtHome.self, LocationAtShop.self]
                + (hasPhotoInRow ? [] : [ItemPhoto.self]),
            recorder: recorder)
    }

    // MARK: - The scenario

    /// The output that the user has seen, which shows whether both forms display the same.
    package struct Outcome: Sendable, Hashable {
        package var screens = 0
        package var rows = 0
        package var views = 0
        /// A checksum of all text and photos shown.
        package var checksum: UInt64 = 0

        mutating func show(_ text: String) {
            checksum.add(text)
        }

        mutating func show(_ photo: Data) {
            checksum = checksum &* 31 &+ UInt64(photo.count) &+ UInt64(photo.first ?? 0)
        }
    }

    /// The number of screens after which the user opens an item.
    private static let screensBetweenViews = 3

    /// Scrolls through the whole list.
    package func run() throws -> Outcome {
        let context = container.viewContext
        return try context.performAndWait {
            // The objects that closed views keep, besides the list.
            var kept: [ManagedObject] = []
            defer { withExtendedLifetime(kept) {} }
            return try scroll(context, keeping: &kept)
        }
    }

    private func scroll(_ context: ManagedObjectContext, keeping kept: inout [ManagedObject]) throws -> Outcome {
        var outcome = Outcome()
        let items = try fetchItems(context)
        for top in stride(from: 0, to: items.count, by: form.visibleRows) {
            let screen = top..<min(top + form.visibleRows, items.count)
            let last = recorder.scope("list", kind: .screen) {
                var shown: Item?
                for index in screen {
                    let item = items[index]
                    showRow(item, &outcome)
                    shown = item
                }
                return shown
            }
            outcome.screens += 1
            guard outcome.screens % Self.screensBetweenViews == 1, let last else { continue }
            showView(last, in: context, &outcome, keeping: &kept)
        }
        return outcome
    }

    /// Prefetches the relationships that a row shows, except for the flaw's location, which each row then looks up.
    private func fetchItems(_ context: ManagedObjectContext) throws -> FetchResults<Item> {
        let locations = form.flaws.contains(.locationPerRow) ? [] : ["locationAtHome"]
        let request = FetchRequest<Item>(
            sortDescriptors: [.ascending("name")], fetchBatchSize: form.batchSize,
            relationshipKeyPathsForPrefetching: ["unit"] + locations)
        return try context.fetch(request)
    }

    private func showRow(_ item: Item, _ outcome: inout Outcome) {
        outcome.rows += 1
        outcome.show("\(item.quantity) \(item.unit?.name ?? "") \(item.name)")
        outcome.show(item.locationAtHome?.storedIn ?? "")
    }

    private func showView(
        _ item: Item, in context: ManagedObjectContext, _ outcome: inout Outcome, keeping kept: inout [ManagedObject]
    ) {
        recorder.scope("item", kind: .screen) {
            outcome.views += 1
            outcome.show(item.name)
            outcome.show(item.locationAtShop?.aisle ?? "")
            var shown: [ManagedObject] = [item]
            if form.flaws.contains(.photoInRow) {
                outcome.show(item.photo ?? Data())
            } else if let photo = item.photoObject {
                outcome.show(photo.data ?? Data())
                shown.append(photo)
            }
            if form.flaws.contains(.photoKeptByView) {
                kept += shown
            } else {
                for object in shown { context.refresh(object, mergeChanges: false) }
            }
        }
    }
}
