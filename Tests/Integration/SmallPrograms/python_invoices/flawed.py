"""Prints invoices with their customers, and the open items of each."""
import sqlite3
import sys


def create(connection):
    connection.executescript(
        """
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer, day INTEGER);
        CREATE TABLE item (id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL REFERENCES invoice, price INTEGER, paid INTEGER);
        CREATE INDEX item_invoice ON item (invoice_id);
        CREATE INDEX invoice_day ON invoice (day);
        """
    )
    with connection:
        connection.executemany("INSERT INTO customer VALUES (?, ?)", ((i, f"Customer {i}") for i in range(1, 201)))
        connection.executemany("INSERT INTO invoice VALUES (?, ?, ?)", ((i, i * 7 % 200 + 1, i % 365) for i in range(1, 2001)))
        connection.executemany(
            "INSERT INTO item VALUES (?, ?, ?, ?)", ((i, i % 2000 + 1, i % 97, i % 3 == 0) for i in range(1, 6001))
        )


class Invoices:
    def __init__(self, connection):
        self.connection = connection

    def recent(self, count):
        yield from self.connection.execute(  # finds R27 R27
            "SELECT id, customer_id, day FROM invoice ORDER BY day DESC LIMIT ?", (count,)
        )

    def customer(self, customer_id):
        return self.connection.execute("SELECT name FROM customer WHERE id = ?", (customer_id,)).fetchone()[0]

    def open_sum(self, invoice_id):
        cursor = self.connection.cursor()
        cursor.execute("SELECT sum(price) FROM item WHERE invoice_id = ? AND paid = 0", (invoice_id,))
        return cursor.fetchone()[0] or 0


def main():
    connection = sqlite3.connect(sys.argv[1])
    create(connection)
    invoices = Invoices(connection)
    total = 0
    for invoice_id, customer_id, day in invoices.recent(1500):
        name = invoices.customer(customer_id)
        total += len(name) + day
    print("names", total)
    for invoice_id, _, _ in list(invoices.recent(1200)):
        total += invoices.open_sum(invoice_id)
    print("total", total)


main()
