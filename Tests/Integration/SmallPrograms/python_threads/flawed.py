"""Deletes the threads of a forum that were moved."""
import sqlite3
import sys


def create(connection):
    connection.executescript(
        """
        CREATE TABLE thread (id INTEGER PRIMARY KEY, title TEXT);
        CREATE TABLE post (id INTEGER PRIMARY KEY, thread_id INTEGER REFERENCES thread, body TEXT);
        """
    )
    with connection:
        connection.executemany("INSERT INTO thread VALUES (?, ?)", ((i, f"Thread {i}") for i in range(2000)))
        connection.executemany(
            "INSERT INTO post (thread_id, body) VALUES (?, ?)", ((i % 1500, "post") for i in range(15000))
        )


def remove(connection):
    connection.execute("PRAGMA foreign_keys = ON")
    with connection:
        return connection.execute("DELETE FROM thread WHERE id BETWEEN ? AND ?", (1600, 1700)).rowcount  # finds R06


connection = sqlite3.connect(sys.argv[1])
create(connection)
print(remove(connection))
