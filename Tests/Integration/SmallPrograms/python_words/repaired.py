"""Counts the words of a text."""
import sqlite3
import sys


def create(connection):
    connection.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT UNIQUE, seen INTEGER NOT NULL)")


def add(connection, words):
    with connection:
        connection.executemany(
            "INSERT INTO word (text, seen) VALUES (?, 1) ON CONFLICT (text) DO UPDATE SET seen = seen + 1",
            ((word,) for word in words),
        )


def main():
    connection = sqlite3.connect(sys.argv[1])
    create(connection)
    add(connection, [f"word {i * i % 1009}" for i in range(6000)])
    print(connection.execute("SELECT count(*), sum(seen) FROM word").fetchone())


main()
