// The timetable of a town's buses, in two forms: flawed and repaired.
//
//     Timetable <store> flawed|repaired prepare
//     Timetable <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "departures": try showDepartures()
        case "served": try listServed()
        case "hours": try drawHours()
        case "nearest": try findNearest()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// The departures of some stops, with their lines.
    private func showDepartures() throws {
        for number in 20..<30 {
            var request = FetchRequest<Call>(
                predicate: PropertyPath("stop.name")
                    == "\(["Old", "New", "Upper", "Lower"][number % 4]) Street \(number)",
                sortDescriptors: [.ascending("minute")], fetchLimit: 30)
            if !isFlawed { request.relationshipKeyPathsForPrefetching = ["journey.line"] }
            let calls = try context.fetch(request)  // departures
            print(calls.map { "\($0.minute) \($0.journey?.line?.name ?? "")" })
            context.reset()
        }
    }

    /// How many journeys of each line call at a stop late in the evening.
    private func listServed() throws {
        let stops = try context.fetch(FetchRequest<Stop>(sortDescriptors: [.ascending("name")], fetchLimit: 30))
        guard isFlawed else {
            let count = ExpressionDescription("count", .function(.count, "self"))
            var request = FetchRequest<Call>(
                predicate: FetchPredicate.isIn("stop", objects: stops.map(\.objectID)) && PropertyPath("minute") > 1100)
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["stop", count])
            request.propertiesToGroupBy = ["stop"]
            print(stops.map(\.name), try context.fetchDictionaries(request).count)
            return
        }
        for stop in stops {
            let request = FetchRequest<Journey>(
                predicate: try FetchPredicate(
                    format: "SUBQUERY(calls, $call, $call.stop == %@ AND $call.minute > %d).@count > 0", stop, 1100))
            print(stop.name, try context.count(for: request))  // late at a stop
        }
    }

    /// How many buses leave in each hour.
    private func drawHours() throws {
        var counts: [Int] = []
        if isFlawed {
            for hour in 5..<20 {
                let request = FetchRequest<Call>(
                    predicate: PropertyPath("minute") >= hour * 60 && PropertyPath("minute") < hour * 60 + 60)
                counts.append(try context.count(for: request))  // in one hour
            }
        } else {
            let (lowest, highest, width) = (300.0, 1200.0, 60.0)
            // As it is advised, word for word.
            let count = ExpressionDescription("count", .function(.count, "self"))
            let first: FetchExpression = .value(lowest)
            let place: FetchExpression = (.function(.castToNumber, .keyPath("minute")) - first) / .value(width)
            let range = ExpressionDescription("range", .function(.floor, place))
            var request = FetchRequest<Call>()
            request.predicate = PropertyPath("minute") >= lowest && PropertyPath("minute") < highest
            (request.resultType, request.propertiesToFetch) = (.dictionary, [range, count])
            request.propertiesToGroupBy = ["range"]
            let groups = try context.fetchDictionaries(request)
            for group in groups {
                if case .integer(let count)? = group["count"] { counts.append(Int(count)) }
            }
        }
        print(counts)
    }

    /// The nearest stops, which no order of the store gives.
    private func findNearest() throws {
        var request = FetchRequest<Stop>()
        if !isFlawed {
            request.predicate = try FetchPredicate(
                format: "east >= %f AND east < %f AND north >= %f AND north < %f", 450.0, 550.0, 450.0, 550.0)
        }
        let stops = try context.fetch(request)  // around here
        let distance = { (stop: Stop) in
            (stop.east - 500) * (stop.east - 500) + (stop.north - 500) * (stop.north - 500)
        }
        print(stops.sorted { distance($0) < distance($1) }.prefix(5).map(\.name))
    }
}

let application = Application()
let container = try application.container(
    "Timetable", makeModel(isIndexed: !application.isFlawed), classes: [Line.self, Journey.self, Call.self, Stop.self])
try application.run(container, prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
