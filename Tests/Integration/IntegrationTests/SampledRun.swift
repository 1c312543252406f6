import Foundation
import Testing

/// A program that was recorded with samples of its CPU time or of its allocations.
struct SampledRun {
    /// A node of the call tree, as `faultline tree --format json` prints it.
    struct Node: Decodable {
        var function: String
        var part: String
        var total: UInt64
        var `self`: UInt64
        var children: [Node]
    }

    struct Tree: Decodable {
        var total: UInt64
        var events: UInt64
        var unknown: UInt64
        var roots: [Node]
    }

    let result: BuiltCommand.Result
    let trace: String

    /// Records a command.
    ///
    /// - Parameter sampling: The options of `record`. The kernel delivers at most one sample of CPU time for each of its ticks.
    init(_ command: [String], in directory: TemporaryDirectory, sampling: [String] = ["--cpu=1000"]) throws {
        trace = directory.path("trace.json")
        result = try BuiltCommand.run(["record"] + sampling + ["-o", trace, "--quiet", "--"] + command)
    }

    /// A recording that was made otherwise.
    init(result: BuiltCommand.Result, trace: String) {
        (self.result, self.trace) = (result, trace)
    }

    func tree(_ options: [String] = []) throws -> Tree {
        let text = try BuiltCommand.run(["tree", trace, "--weight", "cpu", "--format", "json"] + options).output
        return try JSONDecoder().decode(Tree.self, from: Data(text.utf8))
    }

    /// The paths of the samples, each from its outermost function to the one that ran, with the sums of their weights.
    func paths(_ weight: String = "cpu") throws -> [String: Double] {
        let text = try BuiltCommand.run(["tree", trace, "--weight", weight, "--format", "folded"]).output
        var paths: [String: Double] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.lastIndex(of: " ") else { continue }
            paths[String(line[..<space]), default: 0] += Double(line[line.index(after: space)...]) ?? 0
        }
        return paths
    }

    /// The sampled call paths, for the message of a failed expectation.
    var summary: Comment { Comment(rawValue: (try? paths()).map { "\($0)" } ?? "no tree") }

    /// The share of the CPU time whose path contains a text, from 0 to 1.
    func share(of text: String) throws -> Double {
        let paths = try paths()
        let all = paths.values.reduce(0, +)
        return paths.filter { $0.key.contains(text) }.values.reduce(0, +) / max(1, all)
    }

    /// The share of the CPU time whose path begins with a function, from 0 to 1.
    func share(ofRoot function: String) throws -> Double {
        let tree = try tree()
        return Double(tree.roots.first { $0.function == function }?.total ?? 0) / Double(max(1, tree.total))
    }
}
