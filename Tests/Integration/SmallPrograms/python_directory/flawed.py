"""Looks people up in a directory."""
import sys

import people

connection = people.open_directory(sys.argv[1])
for number in (17, 1234, 3999):
    print(people.by_email(connection, f"p{number}@example.org")["family"])
    print([row["id"] for row in people.family_in_city(connection, f"Family {number % 701}", "Ulm")])
    print(people.owner_of_badge(connection, f"B{number:05}")["family"])
