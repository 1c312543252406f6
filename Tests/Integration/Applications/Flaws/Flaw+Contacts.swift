extension Flaw {
    /// An address book of people, companies and customers, which inherit from one another.
    static let contacts = [
        Flaw(
            "Contacts", "search", "R08", "Search a folded copy of Person.name, not BEGINSWITH[cd]", line: "// typed"),
        Flaw("Contacts", "caller", "R06", "Index Phone by digits", line: "// looked up by number"),
        Flaw(
            "Contacts", "list", "R02", "Set the batch size of Person to 25 (now all rows at once)",
            line: "// listed by name", others: ["R19"]),
        Flaw(
            "Contacts", "list", "R19", "Index Person by name to avoid the sort", line: "// listed by name",
            others: ["R02"]),
        Flaw(
            "Contacts", "employers", "R01", #"Prefetch "employer" with the fetch of Person"#, line: "// with employers"),
        Flaw(
            "Contacts", "labels", "R16", #"Fold Address into Party, which always reads it through "address""#,
            line: "// on labels", others: ["R01"]),
        Flaw(
            "Contacts", "customers", "R15", "Fetch Customer, not Party: no other objects are read",
            line: "// picked out", others: ["R02"]),
        Flaw(
            "Contacts", "logos", "R09", "Move Company.logo into an entity of its own",
            line: #"AttributeDescription("logo""#, file: "Model.swift", others: ["R02"]),
        Flaw("Contacts", "groups", "R01", #"Prefetch "members" with the fetch of Group"#, line: "// with members"),
        Flaw(
            "Contacts", "sizes", "R01",
            "Count Group.members for all objects at once: the members are never read",
            line: "// with the numbers of members"),
        Flaw(
            "Contacts", "deletable", "R05", "Check with a limit of 1 whether any Person exists",
            line: "// asked whether there are any"),
        Flaw(
            "Contacts", "total", "R05", "Count Person with a count request, not by fetching", line: "// counted"),
        Flaw(
            "Contacts", "phones", "R20", #"Do not prefetch "phones" with the fetch of Person"#, line: "// with phones",
            others: ["R19"], thresholds: anyPrefetch),
    ]
}
