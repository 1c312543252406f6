import Foundation

var seedURL: URL { fatalError() }
