# A shopping list whose batches are too large, whose rows carry photos, and whose rows look up their places one by one.
list="faultline workload groceries --store list.sqlite --items 100 --rows 10 --flaws all"
$list --prepare
faultline record -o trace.json -- $list
