import FaultlineModel
import FaultlineStore
import Foundation

class Party: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let searchNameKey = AttributeKey<String>("searchName")
    static let phonesKey = ToManyKey<Phone>("phones")
    static let groupsKey = ToManyKey<Group>("groups")
    static let addressKey = ToOneKey<Address>("address")
    static let streetKey = AttributeKey<String>("street")
    static let cityKey = AttributeKey<String>("city")

    /// The name; a folded copy of it is kept for searches.
    var name: String {
        get { self[Self.nameKey] }
        set {
            self[Self.nameKey] = newValue
            self[Self.searchNameKey] = Self.folding.fold(newValue)
        }
    }
    var phones: ToMany<Phone> { self[Self.phonesKey] }

    static let folding: TextOptions = [.caseInsensitive, .diacriticInsensitive]
}

final class Person: Party {
    static let jobTitleKey = AttributeKey<String>("jobTitle")
    static let employerKey = ToOneKey<Company>("employer")
    var jobTitle: String {
        get { self[Self.jobTitleKey] }
        set { self[Self.jobTitleKey] = newValue }
    }
    var employer: Company? {
        get { self[Self.employerKey] }
        set { self[Self.employerKey] = newValue }
    }
}

class Company: Party {
    static let industryKey = AttributeKey<String>("industry")
    static let logoKey = AttributeKey<Data?>("logo")
    static let logoFileKey = ToOneKey<Logo>("logoFile")
    var industry: String {
        get { self[Self.industryKey] }
        set { self[Self.industryKey] = newValue }
    }
}

final class Customer: Company {
    static let numberKey = AttributeKey<Int>("number")
    static let revenueKey = AttributeKey<Double>("revenue")
    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }
    var revenue: Double {
        get { self[Self.revenueKey] }
        set { self[Self.revenueKey] = newValue }
    }
}

final class Address: ManagedObject {
    static let streetKey = AttributeKey<String>("street")
    static let cityKey = AttributeKey<String>("city")
    var street: String { self[Self.streetKey] }
    var city: String { self[Self.cityKey] }
}

final class Logo: ManagedObject {
    static let imageKey = AttributeKey<Data>("image")
}

final class Phone: ManagedObject {
    static let digitsKey = AttributeKey<String>("digits")
    static let ownerKey = ToOneKey<Party>("owner")
    var digits: String { self[Self.digitsKey] }
    var owner: Party? { self[Self.ownerKey] }
}

final class Group: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let membersKey = ToManyKey<Party>("members")
    var title: String { self[Self.titleKey] }
    var members: ToMany<Party> { self[Self.membersKey] }
}

let classes: [ManagedObject.Type] = [
    Party.self, Person.self, Company.self, Customer.self, Address.self, Logo.self, Phone.self, Group.self,
]

/// - Parameter isFlawed: Whether the model lacks indexes, and has an entity for addresses and none for logos.
func makeModel(isFlawed: Bool) throws -> ManagedObjectModel {
    func text(_ name: String) -> AttributeDescription { AttributeDescription(name, .string, isOptional: false) }
    func indexes(_ all: FetchIndexDescription...) -> [FetchIndexDescription] { isFlawed ? [] : all }
    return try ManagedObjectModel(entities: [
        EntityDescription(
            "Party", isAbstract: true,
            attributes: [text("name"), text("searchName")] + (isFlawed ? [] : [text("street"), text("city")]),
            relationships: [
                RelationshipDescription("phones", to: "Phone", inverse: "owner", isToMany: true, deleteRule: .cascade),
                RelationshipDescription("groups", to: "Group", inverse: "members", isToMany: true),
            ] + (isFlawed ? [RelationshipDescription("address", to: "Address", inverse: "party")] : []),
            indexes: indexes(
                FetchIndexDescription("byName", on: "name"), FetchIndexDescription("bySearchName", on: "searchName"))),
        EntityDescription(
            "Person", parent: "Party", attributes: [text("jobTitle")],
            relationships: [RelationshipDescription("employer", to: "Company", inverse: "employees")]),
        EntityDescription(
            "Company", parent: "Party",
            attributes: [text("industry")] + (isFlawed ? [AttributeDescription("logo", .binary)] : []),
            relationships: [
                RelationshipDescription("employees", to: "Person", inverse: "employer", isToMany: true)
            ] + (isFlawed ? [] : [RelationshipDescription("logoFile", to: "Logo", inverse: "company")])),
        EntityDescription(
            "Customer", parent: "Company",
            attributes: [
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("revenue", .double, isOptional: false),
            ]),
        EntityDescription(
            "Address", attributes: [text("street"), text("city")],
            relationships: isFlawed ? [RelationshipDescription("party", to: "Party", inverse: "address")] : []),
        EntityDescription(
            "Logo", attributes: [AttributeDescription("image", .binary, isOptional: false)],
            relationships: isFlawed ? [] : [RelationshipDescription("company", to: "Company", inverse: "logoFile")]),
        EntityDescription(
            "Phone", attributes: [text("digits")],
            relationships: [RelationshipDescription("owner", to: "Party", inverse: "phones")],
            indexes: indexes(FetchIndexDescription("byDigits", on: "digits"))),
        EntityDescription(
            "Group", attributes: [text("title")],
            relationships: [RelationshipDescription("members", to: "Party", inverse: "groups", isToMany: true)]),
    ])
}
