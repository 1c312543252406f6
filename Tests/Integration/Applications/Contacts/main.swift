// An address book of people, companies and customers, in two forms: flawed and repaired.
//
//     Contacts <store> flawed|repaired prepare
//     Contacts <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "search": try search()
        case "caller": try identifyCallers()
        case "list": try list()
        case "employers": try listEmployers()
        case "labels": try printLabels()
        case "customers": try listCustomers()
        case "logos": try listCompanies()
        case "groups": try listGroups()
        case "sizes": try countMembers()
        case "deletable": try findDeletable()
        case "total": try countPeople()
        case "phones": try listNames()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// Parties whose names begin with what somebody types, letter by letter.
    private func search() throws {
        for text in ["Z", "ZO", "ZOE"] {
            try Faultline.scope("typing", kind: .screen) {
                let predicate =
                    isFlawed
                    ? PropertyPath("name").beginsWith(text, options: Party.folding)
                    : PropertyPath("searchName").beginsWith(Party.folding.fold(text))
                let found = try context.fetch(FetchRequest<Person>(predicate: predicate, fetchLimit: 20))  // typed
                print(found.map { "\($0.name), \($0.jobTitle)" })
            }
        }
    }

    /// Looks up who calls.
    private func identifyCallers() throws {
        for digits in ["555000010", "555002025", "555004444", "555006666", "555007999"] {
            try Faultline.scope("call", kind: .request) {
                let request = FetchRequest<Phone>(predicate: PropertyPath("digits") == digits, fetchLimit: 1)
                let phone = try context.fetch(request).first  // looked up by number
                print(phone?.owner?.name ?? "unknown")
            }
        }
    }

    /// Everybody by name, of which a screen shows sixteen.
    private func list() throws {
        let request = FetchRequest<Person>(sortDescriptors: [.ascending("name")], fetchBatchSize: isFlawed ? 0 : 25)
        let people = try context.fetch(request)  // listed by name
        for screen in 0..<5 {
            Faultline.scope("screenful", kind: .screen) {
                for row in 0..<16 { print(people[screen * 16 + row].name, people[screen * 16 + row].jobTitle) }
            }
        }
    }

    /// Drivers with the companies that they drive for.
    private func listEmployers() throws {
        var request = FetchRequest<Person>(predicate: PropertyPath("name").beginsWith("Eva "))
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["employer"] }
        for person in try context.fetch(request) {  // with employers
            print(person.name, person.jobTitle, person.employer?.name ?? "", person.employer?.industry ?? "")
        }
    }

    /// Labels for a letter to all customers.
    private func printLabels() throws {
        for customer in try context.fetch(FetchRequest<Customer>()) {  // on labels
            if isFlawed {
                let address = customer[Party.addressKey]
                print(customer.name, customer.number, address?.street ?? "", address?.city ?? "")
            } else {
                print(customer.name, customer.number, customer[Party.streetKey], customer[Party.cityKey])
            }
        }
    }

    /// The revenue from customers.
    private func listCustomers() throws {
        if isFlawed {
            for case let customer as Customer in try context.fetch(FetchRequest<Party>()) {  // picked out
                print(customer.number, customer.name, customer.revenue)
            }
        } else {
            for customer in try context.fetch(FetchRequest<Customer>()) {
                print(customer.number, customer.name, customer.revenue)
            }
        }
    }

    /// All companies by industry.
    private func listCompanies() throws {
        let companies = try context.fetch(FetchRequest<Company>())  // without logos
        for (industry, members) in Dictionary(grouping: companies, by: \.industry).sorted(by: { $0.key < $1.key }) {
            print(industry, members.map(\.name))
        }
    }

    /// Groups with their members.
    private func listGroups() throws {
        var request = FetchRequest<Group>()
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["members"] }
        for group in try context.fetch(request) {  // with members
            print(group.title, group.members.map(\.name))
        }
    }

    /// Groups with the numbers of their members.
    private func countMembers() throws {
        guard isFlawed else {
            let count = ExpressionDescription("count", .keyPath("members.@count"))
            var request = FetchRequest<Group>()
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["title", count])
            for group in try context.fetchDictionaries(request) { print(group["title"] ?? "", group["count"] ?? 0) }
            return
        }
        for group in try context.fetch(FetchRequest<Group>()) {  // with the numbers of members
            print(group.title, group.members.count)
        }
    }

    /// Companies that may be deleted, since nobody works there.
    private func findDeletable() throws {
        for number in [3, 13, 23, 33, 43, 53] {
            try Faultline.scope("company", kind: .request) {
                let name = "Rossi & Co. \(number)"
                var request = FetchRequest<Person>(predicate: PropertyPath("employer.name") == name)
                if isFlawed {
                    let employees = try context.fetch(request)  // asked whether there are any
                    print(name, employees.isEmpty)
                } else {
                    request.fetchLimit = 1
                    print(name, try context.fetchObjectIDs(request).isEmpty)
                }
            }
        }
    }

    /// How many people there are.
    private func countPeople() throws {
        if isFlawed {
            let people = try context.fetch(FetchRequest<Person>())  // counted
            print(people.count)
        } else {
            print(try context.count(for: FetchRequest<Person>()))
        }
    }

    /// Names of engineers, for whose phones nobody asks.
    private func listNames() throws {
        for page in 0..<6 {
            var request = FetchRequest<Person>(
                predicate: PropertyPath("name") > "Dan", sortDescriptors: [.ascending("name")], fetchLimit: 50,
                fetchOffset: 50 * page)
            if isFlawed { request.relationshipKeyPathsForPrefetching = ["phones"] }
            print(try context.fetch(request).map { "\($0.name), \($0.jobTitle)" })  // with phones
        }
    }
}

let application = Application()
var description = PersistentStoreDescription(url: application.storeURL)
// Without it SQLite would not know how little is told by the kind of party.
description.analyzesWhenAdded = !application.isFlawed
let container = try PersistentContainer(
    name: "Contacts", managedObjectModel: makeModel(isFlawed: application.isFlawed), storeDescription: description,
    classes: classes)
try application.run(
    container, scopes: ["list": .screen, "labels": .bulk],
    prepare: { try fill($0, isFlawed: application.isFlawed) }
) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
