"""Looks up the members of teams."""
import sqlite3
import sys
from contextlib import closing


def create(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE member (id INTEGER PRIMARY KEY, team INTEGER, name TEXT)")
        connection.execute("CREATE INDEX member_team ON member (team)")
        connection.executemany("INSERT INTO member VALUES (?, ?, ?)", ((i, i % 150, f"Member {i}") for i in range(3000)))


def connect(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def main():
    create(sys.argv[1])
    with closing(connect(sys.argv[1])) as connection:
        names = [row[0] for row in connection.execute("SELECT name, min(id) FROM member GROUP BY team")]
    print(sum(map(len, names)))


main()
