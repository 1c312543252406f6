"""Books goods in and out; a trigger keeps the sums."""
import sqlite3
import sys


def create(connection):
    connection.executescript(
        """
        CREATE TABLE stock (place TEXT, article INTEGER, pieces INTEGER NOT NULL, PRIMARY KEY (place, article));
        CREATE TABLE booking (id INTEGER PRIMARY KEY, place TEXT, article INTEGER, pieces INTEGER);
        CREATE TRIGGER booked AFTER INSERT ON booking BEGIN
            UPDATE stock SET pieces = pieces + NEW.pieces WHERE place = NEW.place AND article = NEW.article;
        END;
        """
    )
    with connection:
        connection.executemany(
            "INSERT INTO stock VALUES (?, ?, 0)", ((f"hall {i % 8}", i // 8) for i in range(8000))
        )


def book(connection, bookings):
    with connection:
        connection.executemany("INSERT INTO booking (place, article, pieces) VALUES (?, ?, ?)", bookings)


connection = sqlite3.connect(sys.argv[1])
create(connection)
book(connection, [(f"hall {i % 8}", i * 31 % 1000, i % 7 - 2) for i in range(600)])
print(connection.execute("SELECT sum(pieces) FROM stock").fetchone()[0])
