var column: String { fatalError() }
var typed: String { fatalError() }
