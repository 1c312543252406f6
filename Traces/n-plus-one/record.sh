# A program of another package (Tests/OutsideProgram), which asks each shelf for its books in a loop.
faultline record -o trace.json -- Library library.sqlite
