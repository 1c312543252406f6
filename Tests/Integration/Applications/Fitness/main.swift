// A diary of exercises and pulses, in two forms: flawed and repaired.
//
//     Fitness <store> flawed|repaired prepare
//     Fitness <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "weeks": try drawWeeks()
        case "averages": try averagePulses()
        case "diary": try writeDiary()
        case "highest": try findHighest()
        case "mornings": try showMornings()
        case "live": try recordLive()
        case "widgets": try fillWidgets()
        case "first": try askForAny()
        case "year": try addUpYear()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// A bar for each week of a year.
    private func drawWeeks() throws {
        var bars = [Double](repeating: 0, count: 52)
        if isFlawed {
            for week in 0..<52 {
                let isInWeek = PropertyPath("start") >= day(week * 7) && PropertyPath("start") < day(week * 7 + 7)
                var request = FetchRequest<Exercise>(predicate: isInWeek)
                request.propertiesToFetch = ["minutes"]
                bars[week] = try context.fetch(request).reduce(0) { $0 + $1.minutes }  // the bar of a week
            }
        } else {
            let (lowest, highest, width) = (day(0), day(52 * 7), 7 * 86_400.0)
            // As it is advised, word for word.
            let sum = ExpressionDescription("sum", .function(.sum, "minutes"))
            let first: FetchExpression = .value(lowest.timeIntervalSinceReferenceDate)
            let place: FetchExpression = (.function(.castToNumber, .keyPath("start")) - first) / .value(width)
            let range = ExpressionDescription("range", .function(.floor, place))
            var request = FetchRequest<Exercise>()
            request.predicate = PropertyPath("start") >= lowest && PropertyPath("start") < highest
            (request.resultType, request.propertiesToFetch) = (.dictionary, [range, sum])
            request.propertiesToGroupBy = ["range"]
            let groups = try context.fetchDictionaries(request)
            for group in groups {
                guard case .double(let week)? = group["range"], case .double(let minutes)? = group["sum"] else {
                    continue
                }
                bars[Int(week)] = minutes
            }
        }
        print(bars)
    }

    /// The mean pulse of the last exercises.
    private func averagePulses() throws {
        var request = FetchRequest<Exercise>(sortDescriptors: [.descending("start")], fetchLimit: 60)
        request.propertiesToFetch = ["sport"]
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["pulses"] }
        for exercise in try context.fetch(request) {  // with their pulses
            let rates = exercise.pulses.map(\.rate)
            print(exercise.sport, rates.reduce(0, +) / Double(rates.count), rates.max() ?? 0)
        }
    }

    /// All exercises, without their tracks.
    private func writeDiary() throws {
        var request = FetchRequest<Exercise>(sortDescriptors: [.descending("start")])
        if !isFlawed { request.propertiesToFetch = ["sport", "minutes"] }
        for exercise in try context.fetch(request) {  // the diary
            print(exercise.sport, exercise.minutes)
        }
    }

    /// The highest pulse.
    private func findHighest() throws {
        var request = FetchRequest<Pulse>(sortDescriptors: [.descending("rate")])
        if !isFlawed { request.fetchLimit = 1 }
        print(try context.fetch(request)[0].rate)  // the highest
    }

    /// The pulses of some mornings.
    private func showMornings() throws {
        for number in [3, 33, 133, 233, 333] {
            let (start, end) = (day(number), day(number + 1))
            let request = FetchRequest<Pulse>(
                predicate: try FetchPredicate(format: "time BETWEEN {%@, %@}", start, end))
            print(try context.fetch(request).map { "\($0.time) \($0.rate)" })  // of one morning
        }
    }

    /// Pulses as they are measured.
    private func recordLive() throws {
        for second in 0..<80 {
            let pulse = Pulse(context: context)
            pulse[Pulse.timeKey] = day(400).addingTimeInterval(Double(second))
            pulse[Pulse.rateKey] = 110
            if isFlawed {
                try context.save()  // one pulse
            }
        }
        try context.save()
    }

    /// Six widgets that show the same goals.
    private func fillWidgets() throws {
        let request = FetchRequest<Goal>(sortDescriptors: [.ascending("title")])
        let kept = isFlawed ? nil : try context.fetch(request)
        for widget in 0..<6 {
            let goals = try kept ?? context.fetch(request)  // in each widget
            print(widget, goals.map(\.title))
        }
    }

    /// Whether any pulse is high.
    private func askForAny() throws {
        var request = FetchRequest<Pulse>(predicate: PropertyPath("rate") > 120.0)
        if !isFlawed { request.fetchLimit = 1 }
        print(try context.fetch(request).isEmpty)  // whether there are any
    }

    /// The energy of all exercises.
    private func addUpYear() throws {
        guard isFlawed else {
            var request = FetchRequest<Exercise>()
            request.resultType = .dictionary
            request.propertiesToFetch = [ExpressionDescription("sum", .function(.sum, "energy"))]
            print(try context.fetchDictionaries(request)[0]["sum"] ?? 0)
            return
        }
        var request = FetchRequest<Exercise>()
        request.propertiesToFetch = ["energy"]
        let exercises = try context.fetch(request)  // the year's
        print(exercises.reduce(0) { $0 + $1.energy })
    }
}

let application = Application()
let container = try application.container(
    "Fitness", makeModel(isIndexed: !application.isFlawed), classes: [Exercise.self, Pulse.self, Goal.self])
try application.run(container, scopes: ["live": .bulk], prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
