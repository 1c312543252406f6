"""Looks people up in a directory that has indexes."""
import sys

import people

connection = people.open_directory(sys.argv[1])
connection.executescript(
    """
    CREATE INDEX person_email ON person (email);
    CREATE INDEX person_family_city_born ON person (family, city, born);
    CREATE INDEX badge_code ON badge (code);
    """
)
for number in (17, 1234, 3999):
    print(people.by_email(connection, f"p{number}@example.org")["family"])
    print([row["id"] for row in people.family_in_city(connection, f"Family {number % 701}", "Ulm")])
    print(people.owner_of_badge(connection, f"B{number:05}")["family"])
