import Foundation
import TestFolders
import Testing

/// The system's Python with mappers from its packages.
enum PythonPackages {
    static let python = "/usr/bin/python3"

    static func has(_ module: String) -> Bool {
        (try? BuiltCommand.run(["-c", "import \(module)"], program: python).status) == 0
    }

    /// The beginning of a script that uses Django with a database in memory.
    static let django = """
        import django
        from django.conf import settings
        settings.configure(
            DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
            DEFAULT_AUTO_FIELD="django.db.models.AutoField")
        django.setup()

        """

    /// Records a script, and returns the report's findings that are not notes.
    static func problems(
        _ script: String, in directory: TemporaryDirectory
    ) throws -> [ReportDocument.Finding] {
        let trace = try Python.record(script, with: python, in: directory, named: "shop.py")
        return try ReportDocument(of: trace).findings.filter { $0.severity != "note" }
    }
}

@Suite("A program with a mapper for Python")
struct PythonMapperTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func shopInDjango(books: String, authors: String) -> String {
        PythonPackages.django + """
            from django.db import connection, models
            class Author(models.Model):
                name = models.CharField(max_length=100)
                class Meta: app_label = "shop"
            class Book(models.Model):
                title = models.CharField(max_length=100)
                author = models.ForeignKey(Author, on_delete=models.CASCADE)
                class Meta: app_label = "shop"
            with connection.schema_editor() as editor:
                editor.create_model(Author)
                editor.create_model(Book)
            Author.objects.bulk_create([Author(name="author %d" % number) for number in range(60)])
            authors = list(Author.objects.all())
            Book.objects.bulk_create([Book(title="book %d" % n, author=authors[n % 60]) for n in range(90)])
            def line(book):
                return book.title + " by " + book.author.name
            def page():
                return [line(book) for book in \(books)]
            def shelves():
                return [[book.title for book in author.book_set.all()] for author in \(authors)]
            print(len(page()), len(shelves()))

            """
    }

    @Test(
        "in Django gets select_related and prefetch_related at its own lines",
        .enabled(if: PythonPackages.has("django"), "needs python3-django: apt-get install python3-django"))
    func django() throws {
        let script = shopInDjango(books: #"Book.objects.order_by("title")"#, authors: "Author.objects.all()")
        let problems = try PythonPackages.problems(script, in: directory)
        #expect(problems.map(\.rule) == ["R27", "R27"])
        #expect(
            Set(problems.map(\.code)) == [
                [#"Book.objects.select_related("author")"#],
                [#"Author.objects.prefetch_related("book_set")  # or its related_name"#],
            ])
        let lines = Dictionary(uniqueKeysWithValues: problems.map { ($0.code, $0.change?.line) })
        #expect(lines[[#"Book.objects.select_related("author")"#]] == 24)
        #expect(problems.map { $0.change?.file.hasSuffix("/shop.py") } == [true, true])
    }

    @Test(
        "in Django gets no advice once it follows it",
        .enabled(if: PythonPackages.has("django"), "needs python3-django: apt-get install python3-django"))
    func repairedDjango() throws {
        let script = shopInDjango(
            books: #"Book.objects.order_by("title").select_related("author")"#,
            authors: #"Author.objects.prefetch_related("book_set")"#)
        #expect(try PythonPackages.problems(script, in: directory).isEmpty)
    }

    private func shopInSQLAlchemy(books: String, authors: String) -> String {
        """
        from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, select
        from sqlalchemy.orm import Session, declarative_base, joinedload, relationship, selectinload
        Base = declarative_base()
        class Author(Base):
            __tablename__ = "author"
            id = Column(Integer, primary_key=True)
            name = Column(String)
            books = relationship("Book", back_populates="author")
        class Book(Base):
            __tablename__ = "book"
            id = Column(Integer, primary_key=True)
            title = Column(String)
            author_id = Column(ForeignKey("author.id"))
            author = relationship("Author", back_populates="books")
        engine = create_engine("sqlite://", future=True)
        Base.metadata.create_all(engine)
        with Session(engine, future=True) as session:
            session.add_all([Author(id=n, name="author %d" % n) for n in range(1, 61)])
            session.add_all([Book(title="book %d" % n, author_id=n % 60 + 1) for n in range(90)])
            session.commit()
        with Session(engine, future=True) as session:
            print(len([book.title + book.author.name for book in session.scalars(\(books))]))
        with Session(engine, future=True) as session:
            print(sum(len(author.books) for author in session.scalars(\(authors)).unique()))

        """
    }

    @Test(
        "in SQLAlchemy gets eager loading at its own lines",
        .enabled(if: PythonPackages.has("sqlalchemy"), "needs python3-sqlalchemy: apt-get install python3-sqlalchemy"))
    func sqlAlchemy() throws {
        let script = shopInSQLAlchemy(books: "select(Book).order_by(Book.title)", authors: "select(Author)")
        let problems = try PythonPackages.problems(script, in: directory)
        #expect(problems.map(\.rule) == ["R27", "R27"])
        #expect(
            problems.contains { $0.code == ["select(Book).options(joinedload(Book.author))"] && $0.change?.line == 22 })
        #expect(
            problems.contains { $0.title == "Load book eagerly with the query of author" && $0.change?.line == 24 })
    }

    @Test(
        "in SQLAlchemy gets no advice once it follows it",
        .enabled(if: PythonPackages.has("sqlalchemy"), "needs python3-sqlalchemy: apt-get install python3-sqlalchemy"))
    func repairedSQLAlchemy() throws {
        let script = shopInSQLAlchemy(
            books: "select(Book).order_by(Book.title).options(joinedload(Book.author))",
            authors: "select(Author).options(selectinload(Author.books))")
        #expect(try PythonPackages.problems(script, in: directory).isEmpty)
    }

    @Test(
        "that reads objects again in SQLAlchemy, because a commit expired them, gets the session's setting",
        .enabled(if: PythonPackages.has("sqlalchemy"), "needs python3-sqlalchemy: apt-get install python3-sqlalchemy"))
    func expired() throws {
        let session = { (options: String) in
            shopInSQLAlchemy(books: "select(Book).where(Book.id < 0)", authors: "select(Author).where(Author.id < 0)")
                + """
                with Session(engine\(options)) as session:
                    authors = session.scalars(select(Author)).all()
                    for author in authors: author.name += "!"
                    session.commit()
                    print(sum(len(author.name) for author in authors))

                """
        }
        let problems = try PythonPackages.problems(session(""), in: directory)
        #expect(problems.map(\.title) == ["Do not let each commit expire the objects of author"])
        #expect(problems.map(\.code) == [["Session(engine, expire_on_commit=False)"]])
        #expect(problems.map(\.change?.line) == [29])
        #expect(try PythonPackages.problems(session(", expire_on_commit=False"), in: directory).isEmpty)
    }

    @Test("without a mapper gets a join", .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func plain() throws {
        let script = { (body: String) in
            """
            import sqlite3
            db = sqlite3.connect(":memory:")
            db.executescript("CREATE TABLE author(id INTEGER PRIMARY KEY, name); CREATE TABLE book(title, author_id)")
            db.executemany("INSERT INTO author VALUES (?, ?)", [(n, str(n)) for n in range(60)])
            db.executemany("INSERT INTO book VALUES (?, ?)", [(str(n), n % 60) for n in range(3000)])
            \(body)

            """
        }
        let flawed = try PythonPackages.problems(
            script(
                """
                for title, author in db.execute("SELECT title, author_id FROM book"):
                    db.execute("SELECT name FROM author WHERE id = ?", (author,)).fetchone()
                """), in: directory)
        #expect(
            flawed.map(\.code) == [["SELECT book.*, author.name FROM book JOIN author ON author.id = book.author_id"]])
        #expect(flawed.map(\.change?.line) == [6])
        let joined = "db.execute('SELECT title, name FROM book JOIN author ON author.id = author_id').fetchall()"
        #expect(try PythonPackages.problems(script(joined), in: directory).isEmpty)
    }
}
