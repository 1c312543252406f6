// SQLite's own interface, for the arm that every other is compared with.
#include <sqlite3.h>
