# A music library with its five flaws, on the data of a Chinook database, whose path is in CHINOOK.
music="faultline workload music --store music.sqlite --flaws all"
$music --database "${CHINOOK:?is not set; put the path of a Chinook database into it}" --prepare
faultline record -o trace.json -- $music
