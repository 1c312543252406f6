"""Two versions of a model, for the tests of their page."""

import pathlib
import tempfile

from commands import SCRATCH

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">'
ATTACK = "&lt;img src=x onerror=alert(1)&gt;"


def attribute(name, kind="String", more=""):
    return f'<attribute name="{name}" optional="YES" attributeType="{kind}" {more}/>'


def relationship(name, destination, inverse, is_to_many):
    count = 'toMany="YES"' if is_to_many else 'maxCount="1"'
    return (
        f'<relationship name="{name}" optional="YES" {count} destinationEntity="{destination}" '
        f'inverseName="{inverse}" inverseEntity="{destination}" deletionRule="Nullify"/>')


def entity(name, *parts, more=""):
    return f'<entity name="{name}" syncable="YES" {more}>{"".join(parts)}</entity>'


def model(name, *entities):
    """The path of a new .xcdatamodel."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH.name)) / f"{name}.xcdatamodel"
    folder.mkdir()
    (folder / "contents").write_text(HEAD + "".join(entities) + "</model>")
    return folder


def versions():
    """An author gets a biography and loses an age, books become volumes, tags go, and readers come."""
    old = model(
        "Library",
        entity("Author", attribute("name"), attribute("age", "Integer 16"), relationship("books", "Book", "author", True)),
        entity("Book", attribute("title"), relationship("author", "Author", "books", False), relationship("tags", "Tag", "books", True)),
        entity("Novel", more='parentEntity="Book"'),
        entity("Tag", attribute("name"), relationship("books", "Book", "tags", True)))
    new = model(
        "Library 2",
        entity("Author", attribute("name"), attribute("biography", more=f'defaultValueString="{ATTACK}"'), relationship("books", "Volume", "author", True)),
        entity("Volume", attribute("title"), relationship("author", "Author", "books", False), relationship("readers", "Reader", "read", True), more='elementID="Book"'),
        entity("Novel", more='parentEntity="Volume"'),
        entity("Reader", attribute("name"), relationship("read", "Volume", "readers", True)))
    return old, new
