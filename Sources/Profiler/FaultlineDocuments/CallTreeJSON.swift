package import FaultlineProfile
internal import FaultlineTrace

extension CallTree: JSONDocument {
    package static let name = "tree"
    package static let title = "A call tree"
    package static let summary = "The output of `faultline tree --format json`."
    package static let members: JSONMembers<CallTree> = [
        .init("weight", \.weight), .init("direction", \.direction),
        .init("total", "The weight of all paths: nanoseconds, bytes or a count.", \.total),
        .init("events", "The number of events that were weighed.", \.events),
        .init("unknown", "The weight of events without a call path.", \.unknown), .init("roots", \.roots),
    ]
}

extension CallTreeWeight: JSONWord {}
extension CallTree.Direction: JSONWord {}

extension CallTree.Node: JSONObject {
    package static let definition: String? = "node"
    package static let summary = "A function, and the path that leads to it."
    package static let members: JSONMembers<CallTree.Node> = [
        .init("function", \.function.name), .init("file", "Empty if it is not known.", \.function.file),
        .init("module", "The file name of the program or library.", \.function.module),
        .init("part", \.function.part), .init("total", "The weight of the paths that go through the node.", \.total),
        .init(
            "self",
            "The function's own weight on the paths through the node. In a bottom-up tree, only roots have one.",
            \.own),
        .init("children", "The heaviest first.", \.children),
    ]
}
