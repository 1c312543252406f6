import ApplicationKit
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Bookings of rooms, which are done in two forms: as it should not be done, and as it should.
///
///     Bookings <store> flawed|repaired prepare
///     Bookings <store> flawed|repaired <scenario>…
@main
struct Bookings {
    let container: PersistentContainer
    let isFlawed: Bool

    static func main() async throws {
        let application = Application()
        let container = try application.container(
            "Bookings", makeModel(isIndexed: !application.isFlawed), classes: [Room.self, Booking.self])
        if application.isPreparing {
            let context = container.newBackgroundContext()
            return try await context.perform { try fill(context) }
        }
        let program = Bookings(container: container, isFlawed: application.isFlawed)
        for scenario in application.scenarios { try await program.run(scenario) }
    }

    private func run(_ scenario: String) async throws {
        switch scenario {
        case "year": try await year()
        case "available": try await available()
        case "overlaps": try await overlaps()
        case "latest": try await latest()
        case "arrivals": try await arrivals()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// The revenue from rooms in a year: the flawed form works it out for the screen that waits for it, on the main queue.
    private func year() async throws {
        let context = isFlawed ? container.viewContext : container.newBackgroundContext()
        let lines = try await context.perform {
            try Faultline.scope("year", kind: .screen) {
                let bookings = try context.fetch(FetchRequest<Booking>(fetchBatchSize: 500))  // a year
                return bookings.map { "\($0.guest) \($0.start) \($0.price)" }
            }
        }
        print(lines)
    }

    /// Which rooms are free for a night.
    private func available() async throws {
        let context = container.newBackgroundContext()
        let night = newYear + 41 * day
        let free = try await context.perform { [isFlawed] in
            try Faultline.scope("available", kind: .request) {
                let rooms = try context.fetch(FetchRequest<Room>(sortDescriptors: [.ascending("number")]))
                let isTaken = PropertyPath("start") <= night && PropertyPath("end") > night
                guard isFlawed else {
                    var request = FetchRequest<Booking>(predicate: isTaken)
                    request.relationshipKeyPathsForPrefetching = ["room"]
                    let taken = Set(try context.fetch(request).compactMap { $0.room?.number })
                    return rooms.map(\.number).filter { !taken.contains($0) }
                }
                return try rooms.filter { room in
                    let request = FetchRequest<Booking>(predicate: PropertyPath("room") == room.objectID && isTaken)
                    return try context.count(for: request) == 0  // one room
                }.map(\.number)
            }
        }
        print(free)
    }

    /// Bookings that overlap with a stay.
    private func overlaps() async throws {
        let context = container.newBackgroundContext()
        for week in 0..<4 {
            let arrival = newYear + Double(week) * 7 * day
            let guests = try await context.perform {
                let predicate = PropertyPath("start").between(arrival, and: arrival + 2 * day)
                let found = try context.fetch(FetchRequest<Booking>(predicate: predicate))  // in the same days
                return found.map { "\($0.guest) \($0.start) \($0.end) \($0.price) \($0.createdAt)" }
            }
            print(guests)
        }
    }

    /// The latest bookings.
    private func latest() async throws {
        let context = container.newBackgroundContext()
        for hour in 0..<4 {
            let guests = try await context.perform {
                let request = FetchRequest<Booking>(
                    sortDescriptors: [.descending("createdAt")], fetchLimit: 20 + hour)
                let found = try context.fetch(request)  // booked last
                return found.map { "\($0.guest) \($0.createdAt)" }
            }
            print(guests)
        }
    }

    /// The guests of today, whom the flawed form fetches for each line of the house's list.
    private func arrivals() async throws {
        let context = container.newBackgroundContext()
        let lines = try await context.perform { [isFlawed] in
            try Faultline.scope("arrivals", kind: .request) {
                func today() throws -> FetchResults<Booking> {
                    let predicate = PropertyPath("createdAt").between(newYear, and: newYear + 3600)
                    return try context.fetch(FetchRequest<Booking>(predicate: predicate))  // today's
                }
                let once = try today()
                return try (0..<30).map { line in
                    let bookings = isFlawed ? try today() : once
                    return line < bookings.count ? bookings[line].guest : "-"
                }
            }
        }
        print(lines)
    }
}
