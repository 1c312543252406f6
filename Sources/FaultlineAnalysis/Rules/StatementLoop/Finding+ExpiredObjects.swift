extension Finding {
    /// Advises to keep objects loaded that SQLAlchemy reads again because a commit expired them.
    ///
    /// The finding has no remedy to try: the setting is the session's, and not the statement's.
    ///
    /// - Parameter subject: The table that the objects belong to.
    mutating func adviseNotExpiring(_ subject: Wording) {
        title = "Do not let each commit expire the objects of \(subject)"
        fix = "A commit expires all objects of a session, and SQLAlchemy reads each one again when the program uses it."
        code = ["Session(engine, expire_on_commit=False)"]
        codeLanguage = StatementLibrary.sqlAlchemy.language
        alternatives = ["If another connection may have changed the rows, read all of them again with one statement."]
        confidence = .medium("the program may need the rows as they are after the commit")
    }
}
