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


def size(path, team):
    with closing(connect(path)) as connection:
        return connection.execute("SELECT name FROM member WHERE team = ? ORDER BY id LIMIT 1", (team,)).fetchone()[0]  # finds R21 R27


def main():
    create(sys.argv[1])
    names = [size(sys.argv[1], team) for team in range(150)]
    print(sum(map(len, names)))


main()
