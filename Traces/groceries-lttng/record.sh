# The shopping list with its four flaws again, recorded to LTTng.
list="faultline workload groceries --store list.sqlite --items 100 --rows 10 --flaws all"
$list --prepare
faultline record --to lttng -o trace -- $list
