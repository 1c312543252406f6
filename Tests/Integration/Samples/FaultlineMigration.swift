import Foundation

var url: URL { fatalError() }
var checksums: [String] { fatalError() }
