"""Removes sessions that have expired."""
import sqlite3
import sys


def create(connection):
    connection.execute("CREATE TABLE session (token TEXT PRIMARY KEY, user_id INTEGER, expires INTEGER)")
    connection.execute("CREATE INDEX session_expires ON session (expires)")
    with connection:
        connection.executemany(
            "INSERT INTO session VALUES (?, ?, ?)", ((f"{i * 7919 % 1000003:x}", i % 500, i) for i in range(30000))
        )


def expire(connection, now):
    return connection.execute("DELETE FROM session WHERE expires < ?", (now,)).rowcount


connection = sqlite3.connect(sys.argv[1])
create(connection)
with connection:
    print([expire(connection, hour * 20) for hour in range(1, 13)])
