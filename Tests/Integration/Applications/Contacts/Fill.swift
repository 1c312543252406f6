import FaultlineStore
import Foundation

/// Four hundred companies, of which every second is a customer and the others have logos, four thousand people who work for
/// a hundred of them, with two phones each, and two hundred groups.
func fill(_ context: ManagedObjectContext, isFlawed: Bool) throws {
    let industries = ["Shipping", "Printing", "Farming", "Software", "Steel"]
    let companies = (0..<400).map { number in
        let company = number.isMultiple(of: 2) ? Customer(context: context) : Company(context: context)
        company.name = "\(["Müller", "Olsen", "Ito", "Rossi", "Novák"][number % 5]) & Co. \(number)"
        company.industry = industries[number / 5 % industries.count]
        (company as? Customer)?.number = 1000 + number
        (company as? Customer)?.revenue = Double(number) * 1500
        if !(company is Customer) {
            setLogo(of: company, Data(repeating: UInt8(number % 256), count: 20_000), isFlawed: isFlawed)
        }
        setAddress(of: company, "\(number) Harbour Road", "City \(number % 90)", isFlawed: isFlawed)
        return company
    }
    let (first, last) = (["Ana", "Björn", "Chloé", "Dan", "Eva", "Finn", "Gül"], ["Martin", "Møller", "Sato", "Weiß"])
    let people = (0..<4000).map { number in
        let person = Person(context: context)
        let name = number.isMultiple(of: 400) ? "Zoë" : first[number % first.count]
        person.name = "\(name) \(last[number / 7 % last.count]) \(number)"
        person.jobTitle = ["Engineer", "Clerk", "Driver"][number % 3]
        person.employer = companies[number * 13 % 100]
        setAddress(of: person, "\(number) Mill Lane", "City \(number % 90)", isFlawed: isFlawed)
        for place in 0..<2 {
            let phone = Phone(context: context)
            phone[Phone.digitsKey] = "\(555_000_000 + number * 7919 % 4000 * 2 + place)"
            phone[Phone.ownerKey] = person
        }
        return person
    }
    for number in 0..<200 {
        let group = Group(context: context)
        group[Group.titleKey] = "Group \(number)"
        for place in 0..<12 { group.members.add(people[(number * 57 + place * 31) % people.count]) }
    }
    try context.save()
}

private func setAddress(of party: Party, _ street: String, _ city: String, isFlawed: Bool) {
    if isFlawed {
        let address = Address(context: party.managedObjectContext)
        (address[Address.streetKey], address[Address.cityKey]) = (street, city)
        party[Party.addressKey] = address
    } else {
        (party[Party.streetKey], party[Party.cityKey]) = (street, city)
    }
}

private func setLogo(of company: Company, _ image: Data, isFlawed: Bool) {
    if isFlawed {
        company[Company.logoKey] = image
    } else {
        let logo = Logo(context: company.managedObjectContext)
        logo[Logo.imageKey] = image
        company[Company.logoFileKey] = logo
    }
}
