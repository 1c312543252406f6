import FaultlineStore

final class ColorTransformer: ValueTransformer, @unchecked Sendable {}

enum Color { case red }

var wall: Wall { fatalError() }
var book: ManagedObject { fatalError() }
