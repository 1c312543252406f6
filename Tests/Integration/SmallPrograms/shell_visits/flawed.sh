#!/bin/sh
# Imports visits with the sqlite3 command, each in a transaction of its own. finds R28
set -e
database=$1
sqlite3 "$database" "CREATE TABLE visit (page TEXT NOT NULL, visitor INTEGER NOT NULL)"
seq 1 200 | while read -r number; do
    echo "INSERT INTO visit VALUES ('/page/$((number % 13))', $((number % 7)));"
done | sqlite3 "$database"
sqlite3 "$database" "SELECT page, count(*) FROM visit GROUP BY page ORDER BY count(*) DESC, page LIMIT 3"
