extension Flaw {
    /// Letters of senders in mailboxes.
    static let mail = [
        Flaw(
            "Mail", "inbox", "R02", "Set the batch size of Letter to 30 (now all rows at once)", line: "// the inbox",
            others: ["R03"]),
        Flaw(
            "Mail", "days", "R02", "Set the batch size of Letter to 30 (now all rows at once)", line: "// day by day",
            others: ["R03"]),
        Flaw(
            "Mail", "senders", "R01", #"Prefetch "sender" with the fetch of Letter"#, line: "// with senders",
            others: ["R03"]),
        Flaw(
            "Mail", "unread", "R04", "Count Letter for all values of mailbox at once, in one grouped fetch",
            line: "// of one mailbox"),
        Flaw(
            "Mail", "badge", "R05", "Count Letter with a count request, not by fetching", line: "// on the icon",
            others: ["R06"]),
        Flaw(
            "Mail", "previews", "R03", "Keep Letter.body out of the rows that this fetch loads",
            line: "// two columns"),
        Flaw("Mail", "lookUp", "R06", "Index Sender by address", line: "// by address"),
    ]
}
