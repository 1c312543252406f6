"""The people of a directory, and how to find them."""
import sqlite3
from contextlib import closing

CITIES = ["Bern", "Graz", "Ulm", "Linz", "Basel"]


def open_directory(path):
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.executescript(
        """
        CREATE TABLE person (id INTEGER PRIMARY KEY, email TEXT NOT NULL, family TEXT NOT NULL, city TEXT NOT NULL, born INTEGER);
        CREATE TABLE badge (code TEXT NOT NULL, person_id INTEGER NOT NULL);
        """
    )
    with connection:
        connection.executemany(
            "INSERT INTO person VALUES (?, ?, ?, ?, ?)",
            ((i, f"p{i}@example.org", f"Family {i * 13 % 701}", CITIES[i % 5], 1930 + i % 80) for i in range(1, 40001)),
        )
        connection.executemany("INSERT INTO badge VALUES (?, ?)", ((f"B{i:05}", i) for i in range(1, 40001)))
    return connection


def by_email(connection, email):
    return connection.execute("SELECT id, family FROM person WHERE email = ?", (email,)).fetchone()  # finds R06


def family_in_city(connection, family, city):
    with closing(connection.cursor()) as cursor:
        cursor.execute(  # finds R06
            "SELECT id, born FROM person WHERE family = ? AND city = ? ORDER BY born", (family, city)
        )
        return cursor.fetchall()


def owner_of_badge(connection, code):
    return connection.execute(  # finds R06
        "SELECT p.family FROM badge AS b JOIN person AS p ON p.id = b.person_id WHERE b.code = :code", {"code": code}
    ).fetchone()
