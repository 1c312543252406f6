"""Imports orders with a line each from a text, and marks the stock as sold."""
import csv
import io
import sqlite3
import sys

TEXT = "\n".join(f"{number},Customer {number % 40},{number % 25 + 1},{number % 9 + 1}" for number in range(1, 121))


def create(connection):
    connection.executescript(
        """
        CREATE TABLE orders (number INTEGER PRIMARY KEY, customer TEXT NOT NULL);
        CREATE TABLE order_line (order_number INTEGER, article INTEGER, amount INTEGER);
        CREATE TABLE stock (article INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
        """
    )
    with connection:
        connection.executemany("INSERT INTO stock VALUES (?, 1000)", ((i,) for i in range(1, 26)))


def import_orders(connection, file):
    for number, customer, article, amount in csv.reader(file):
        with connection:
            connection.execute("INSERT INTO orders VALUES (?, ?)", (number, customer))
            connection.execute("INSERT INTO order_line VALUES (?, ?, ?)", (number, article, amount))  # finds R28


def sell(connection, lines):
    for article, amount in lines:
        connection.execute("UPDATE stock SET amount = amount - ? WHERE article = ?", (amount, article))  # finds R28
        connection.commit()


def main():
    connection = sqlite3.connect(sys.argv[1])
    create(connection)
    import_orders(connection, io.StringIO(TEXT))
    sell(connection, connection.execute("SELECT article, amount FROM order_line LIMIT 40").fetchall())
    print(connection.execute("SELECT count(*), sum(amount) FROM order_line").fetchone())
    print(connection.execute("SELECT sum(amount) FROM stock").fetchone())


main()
