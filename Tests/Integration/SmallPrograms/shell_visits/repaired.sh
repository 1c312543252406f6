#!/bin/sh
# Imports visits with the sqlite3 command, all at once.
set -e
database=$1
sqlite3 "$database" "CREATE TABLE visit (page TEXT NOT NULL, visitor INTEGER NOT NULL)"
seq 1 200 | while read -r number; do
    echo "/page/$((number % 13)),$((number % 7))"
done | sqlite3 -csv "$database" ".import /dev/stdin visit"
sqlite3 "$database" "SELECT page, count(*) FROM visit GROUP BY page ORDER BY count(*) DESC, page LIMIT 3"
