# The same list with a batch size that fits its screen, photos of their own, and places prefetched.
list="faultline workload groceries --store list.sqlite --items 100 --rows 10 --flaws none"
$list --prepare
faultline record -o trace.json -- $list
