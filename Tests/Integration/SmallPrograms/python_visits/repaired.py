"""Writes down the visits of a site."""
import sqlite3
import sys


class Log:
    def __init__(self, path):
        self.connection = sqlite3.connect(path)
        self.connection.execute("CREATE TABLE visit (id INTEGER PRIMARY KEY, url TEXT, status INTEGER)")

    def write(self, url, status):
        self.connection.execute("INSERT INTO visit (url, status) VALUES (?, ?)", (url, status))


def main():
    log = Log(sys.argv[1])
    with log.connection:
        for number in range(200):
            log.write(f"/page/{number % 40}", 200 if number % 9 else 404)
    print(log.connection.execute("SELECT count(*), sum(status) FROM visit").fetchone())


main()
