"""Feeds measurements into a history while a summary of it is made."""
import sqlite3
import sys
import threading


def writer(path, has_read, is_done):
    has_read.wait()
    connection = sqlite3.connect(path)
    for hour in range(60):
        with connection:
            connection.executemany(
                "INSERT INTO measurement (sensor, value, note) VALUES (?, ?, ?)",
                ((i % 20, hour * i % 91, "n" * 400) for i in range(500)),
            )
    connection.close()
    is_done.set()


def create(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE measurement (id INTEGER PRIMARY KEY, sensor INTEGER, value INTEGER, note TEXT)")
    connection.execute("CREATE INDEX measurement_sensor ON measurement (sensor)")
    with connection:
        connection.executemany(
            "INSERT INTO measurement (sensor, value, note) VALUES (?, ?, ?)", ((i % 20, i % 91, "first") for i in range(2000))
        )
    return connection


def main():
    connection = create(sys.argv[1])
    has_read, is_done = threading.Event(), threading.Event()
    thread = threading.Thread(target=writer, args=(sys.argv[1], has_read, is_done))
    thread.start()
    rows = connection.execute("SELECT value FROM measurement WHERE sensor = 3 ORDER BY id")  # finds R33
    print("first", rows.fetchone()[0])
    has_read.set()
    is_done.wait()
    print("largest", max(row[0] for row in rows))
    thread.join()


main()
