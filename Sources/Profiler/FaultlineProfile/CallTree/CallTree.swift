package import FaultlineTrace

/// A tree of call paths, each with the sum of its events' weights.
///
/// A node stands for a function and the path that leads to it. In a top-down tree the path begins with the outermost
/// function; in a bottom-up tree it begins with the function that ran, and leads to its callers.
package struct CallTree: Sendable {
    /// A function with the path that leads to it.
    package struct Node: Sendable {
        package var function: CodeFunction
        /// The line that was executed, if the tree distinguishes lines; 0 if it does not, or if the line is not known.
        package var line = 0
        /// The weight of the paths that go through the node.
        package var total: UInt64 = 0
        /// The function's own weight on the paths through the node.
        ///
        /// In a bottom-up tree only roots weigh anything themselves, because the functions below them are their callers.
        package var own: UInt64 = 0
        /// The nodes below it, the heaviest first.
        package var children: [Node] = []
    }

    /// The direction of the paths.
    package enum Direction: String, Sendable, CaseIterable {
        /// From the outermost functions to those that ran.
        case topDown
        /// From the functions that ran to their callers.
        case bottomUp
    }

    /// The weight of the tree's events.
    package internal(set) var weight: CallTreeWeight
    package internal(set) var direction: Direction
    /// The nodes that paths begin with, the heaviest first.
    package internal(set) var roots: [Node]
    /// The weight of all paths.
    package internal(set) var total: UInt64
    /// The number of events that were weighed.
    package internal(set) var events: UInt64
    /// The weight of events without a call path, which is part of ``total``.
    package internal(set) var unknown: UInt64
}
