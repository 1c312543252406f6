"""Prints notes with their owners and tags, with joins and prefetches of Peewee."""
import sys

from peewee import CharField, ForeignKeyField, Model, SqliteDatabase, TextField, prefetch

database = SqliteDatabase(sys.argv[1])


class Base(Model):
    class Meta:
        database = database


class Owner(Base):
    name = CharField()


class Note(Base):
    owner = ForeignKeyField(Owner, backref="notes")
    text = TextField()


class Label(Base):
    note = ForeignKeyField(Note, backref="labels")
    name = CharField()


def create():
    database.create_tables([Owner, Note, Label])
    with database.atomic():
        Owner.insert_many([{"name": f"Owner {i}"} for i in range(150)]).execute()
        Note.insert_many([{"owner": i % 150 + 1, "text": f"Note {i}"} for i in range(600)]).execute()
        Label.insert_many([{"note": i % 600 + 1, "name": f"label{i % 17}"} for i in range(1500)]).execute()


def with_owners():
    for note in Note.select(Note, Owner).join(Owner).where(Note.id <= 90):
        yield f"{note.text} of {note.owner.name}"


def with_labels():
    notes = Note.select().where(Note.id > 150).order_by(Note.id)
    for note in prefetch(notes, Label):
        yield note.text + ": " + ", ".join(label.name for label in note.labels)


create()
print(sum(map(len, with_owners())))
print(sum(map(len, with_labels())))
database.close()
