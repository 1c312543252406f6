#if Peers
import Foundation
import GRDB

/// The same work with GRDB.
enum GRDBPeer {
    static func queue(_ url: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -32768; PRAGMA synchronous = OFF")
        }
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }

    static func find(_ key: Int64, _ database: Database) throws -> PersonRecord? {
        try PersonRecord.fetchOne(
            try database.cachedStatement(sql: "SELECT \(PersonRecord.columns) FROM ZPERSON WHERE Z_PK = ?"),
            arguments: [key])
    }

    static func insert(_ values: [PersonValues], firstKey: Int64, _ database: Database) throws {
        try database.inTransaction {
            for (place, value) in values.enumerated() {
                try PersonRecord(value, key: firstKey + Int64(place)).insert(database)
            }
            return .commit
        }
    }

    static func sum(_ people: [PersonRecord]) -> Int {
        var sum = 0
        for person in people {
            sum &+= person.firstName.utf8.count &+ person.lastName.utf8.count
            sum &+= person.age &+ Int(person.height * 100) &+ person.score &+ (person.isActive ? 1 : 0)
        }
        return sum
    }

    static func sum(_ people: [CodablePerson]) -> Int {
        var sum = 0
        for person in people {
            sum &+= person.firstName.utf8.count &+ person.lastName.utf8.count
            sum &+= person.age &+ Int(person.height * 100) &+ person.score &+ (person.isActive ? 1 : 0)
        }
        return sum
    }
}

/// A record that reads its columns by index, GRDB's fastest way.
struct PersonRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "ZPERSON"
    static let columns = "Z_PK, ZFIRSTNAME, ZLASTNAME, ZAGE, ZHEIGHT, ZSCORE, ZISACTIVE"
    static var databaseSelection: [any SQLSelectable] {
        columns.split(separator: ", ").map { Column(String($0)) }
    }

    var key: Int64
    var firstName: String
    var lastName: String
    var age: Int
    var height: Double
    var score: Int
    var isActive: Bool

    init(row: Row) {
        key = row[0]
        firstName = row[1]
        lastName = row[2]
        age = row[3]
        height = row[4]
        score = row[5]
        isActive = row[6]
    }

    init(_ values: PersonValues, key: Int64) {
        self.key = key
        firstName = values.firstName
        lastName = values.lastName
        age = values.age
        height = values.height
        score = values.score
        isActive = values.isActive
    }

    func encode(to container: inout PersistenceContainer) {
        container["Z_PK"] = key
        container["Z_ENT"] = 1
        container["Z_OPT"] = 1
        container["ZFIRSTNAME"] = firstName
        container["ZLASTNAME"] = lastName
        container["ZAGE"] = age
        container["ZHEIGHT"] = height
        container["ZSCORE"] = score
        container["ZISACTIVE"] = isActive
    }
}

/// A record as most programs write it.
struct CodablePerson: Codable, FetchableRecord, TableRecord {
    static let databaseTableName = "ZPERSON"

    var key: Int64
    var firstName: String
    var lastName: String
    var age: Int
    var height: Double
    var score: Int
    var isActive: Bool

    enum CodingKeys: String, CodingKey {
        case key = "Z_PK"
        case firstName = "ZFIRSTNAME"
        case lastName = "ZLASTNAME"
        case age = "ZAGE"
        case height = "ZHEIGHT"
        case score = "ZSCORE"
        case isActive = "ZISACTIVE"
    }
}
#endif
