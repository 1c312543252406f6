"""Lists books with their writers and shelves, with SQLAlchemy."""
import sys

from sqlalchemy import Column, ForeignKey, Integer, String, create_engine, select
from sqlalchemy.orm import Session, declarative_base, relationship

Base = declarative_base()


class Author(Base):
    __tablename__ = "authors"
    id = Column(Integer, primary_key=True)
    name = Column(String, nullable=False)


class Shelf(Base):
    __tablename__ = "shelf"
    id = Column(Integer, primary_key=True)
    label = Column(String, nullable=False)


class Book(Base):
    __tablename__ = "books"
    id = Column(Integer, primary_key=True)
    title = Column(String, nullable=False)
    writer_id = Column(ForeignKey("authors.id"), nullable=False)
    shelf_id = Column(ForeignKey("shelf.id"), nullable=False)
    writer = relationship(Author)
    shelf = relationship(Shelf)

    @property
    def line(self):
        return f"{self.title} by {self.writer.name}"


def create(session):
    session.add_all(Author(id=i, name=f"Author {i}") for i in range(1, 401))
    session.add_all(Shelf(id=i, label=f"Shelf {i}") for i in range(1, 31))
    session.flush()
    session.add_all(
        Book(id=i, title=f"Book {i}", writer_id=i * 7 % 400 + 1, shelf_id=i % 30 + 1) for i in range(1, 1001)
    )
    session.commit()


def lines(session):
    books = session.execute(select(Book).where(Book.id <= 80)).scalars()  # finds R27
    return [book.line for book in books]


def shelves(session):
    found = []
    for book in session.query(Book).filter(Book.id > 900).order_by(Book.id).limit(25).all():  # finds R27
        found.append(book.shelf.label)
    return found


engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
with Session(engine) as session:
    create(session)
with Session(engine) as session:
    print(sum(map(len, lines(session))))
with Session(engine) as session:
    print(sum(map(len, shelves(session))))
