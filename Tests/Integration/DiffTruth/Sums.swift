import Foundation

/// The sums of several runs of a program: half of the idle ones, the other half, and the same of the busy ones.
struct Sums {
    /// Two idle sums, two busy ones, and one of each in both orders.
    let pairs: [(before: String, after: String)]
    /// The traces that each sum is made of.
    let parts: [String: [String]]

    init(of traces: Traces, on machine: Machine) throws {
        let half = traces.idle.count / 2
        var parts: [String: [String]] = [:]
        let sums = try [
            traces.idle.prefix(half), traces.idle.suffix(half), traces.busy.prefix(half), traces.busy.suffix(half),
        ]
        .enumerated().map { place, runs in
            let sum = try Self.sum(Array(runs), "sum \(place)", on: machine)
            parts[sum] = Array(runs)
            return sum
        }
        pairs = [(sums[0], sums[1]), (sums[2], sums[3]), (sums[0], sums[3]), (sums[2], sums[1])]
        self.parts = parts
    }

    /// Makes a profile of each trace, and the sum of them.
    static func sum(_ traces: [String], _ name: String, on machine: Machine) throws -> String {
        let profiles = try traces.enumerated().map { place, trace in
            let profile = machine.path("\(name) \(place).profile")
            try machine.run(["faultline", "profile", trace, "-o", profile, "--force"])
            return profile
        }
        let sum = machine.path("\(name).profile")
        try machine.run(["faultline", "merge"] + profiles + ["-o", sum, "--force"])
        return sum
    }
}
