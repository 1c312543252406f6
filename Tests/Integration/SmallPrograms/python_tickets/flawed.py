"""Lists tickets that nobody has answered."""
import sqlite3
import sys


def create(connection):
    connection.execute("CREATE TABLE ticket (id INTEGER PRIMARY KEY, title TEXT)")
    connection.execute("CREATE TABLE answer (id INTEGER PRIMARY KEY, ticket_id INTEGER REFERENCES ticket, body TEXT)")
    with connection:
        connection.executemany("INSERT INTO ticket VALUES (?, ?)", ((i, f"Ticket {i}") for i in range(300)))
        connection.executemany(
            "INSERT INTO answer (ticket_id, body) VALUES (?, ?)", ((i * 17 % 290, "Thanks") for i in range(12000))
        )


def unanswered(connection):
    return connection.execute(  # finds R06
        "SELECT id FROM ticket WHERE NOT EXISTS (SELECT 1 FROM answer WHERE answer.ticket_id = ticket.id)"
    ).fetchall()


connection = sqlite3.connect(sys.argv[1])
create(connection)
print(len(unanswered(connection)))
