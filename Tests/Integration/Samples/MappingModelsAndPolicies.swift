import FaultlineModel
import Foundation

var oldModel: ManagedObjectModel { fatalError() }
var newModel: ManagedObjectModel { fatalError() }
var newURL: URL { fatalError() }
var versions: [ManagedObjectModel] { fatalError() }
var urls: [URL] { fatalError() }
