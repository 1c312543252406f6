#include "guest.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define KINDS_MAXIMUM 256

static kind kinds[KINDS_MAXIMUM];
static size_t kind_count;

const char *own_path, *directory;

void add_kind(kind new) {
    if (kind_count < KINDS_MAXIMUM) { kinds[kind_count++] = new; }
}

void require(bool holds, const char *what) {
    if (holds) { return; }
    printf("%s failed: %s\n", what, strerrorname_np(errno));
    exit(99);
}

// MARK: - SQLite

const char *path_of(const char *name) {
    static char paths[4][1024];
    static _Atomic unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", directory, name);
    return path;
}

sqlite3 *open_store(const char *name) {
    sqlite3 *store = NULL;
    int result = sqlite3_open(path_of(name), &store);
    if (result == SQLITE_OK) { return store; }
    printf("open: %d %s\n", result, sqlite3_errmsg(store));
    sqlite3_close(store);
    return NULL;
}

sqlite3 *open_memory(void) {
    sqlite3 *store = NULL;
    require(sqlite3_open(":memory:", &store) == SQLITE_OK, "opening memory");
    return store;
}

sqlite3 *open_notes(int rows) {
    sqlite3 *store = open_memory();
    char sql[300];
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE note(id INTEGER PRIMARY KEY, name TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        "INSERT INTO note SELECT i, char(96 + i %% 26) FROM n", rows);
    execute(store, sql);
    return store;
}

sqlite3_stmt *prepare(sqlite3 *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store, sql, -1, &statement, NULL) != SQLITE_OK) {
        printf("prepare: %s\n", sqlite3_errmsg(store));
        return NULL;
    }
    return statement;
}

void execute(sqlite3 *store, const char *sql) {
    char *problem = NULL;
    int result = sqlite3_exec(store, sql, NULL, NULL, &problem);
    if (result != SQLITE_OK) { printf("execute: %d %s\n", result, problem == NULL ? "-" : problem); }
    sqlite3_free(problem);
}

sqlite3_int64 number(sqlite3 *store, const char *sql) {
    sqlite3_stmt *statement = prepare(store, sql);
    sqlite3_int64 value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : -1;
    sqlite3_finalize(statement);
    return value;
}

void print_rows(sqlite3 *store, const char *sql) {
    sqlite3_stmt *statement = prepare(store, sql);
    if (statement == NULL) { return; }
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(statement); column++) {
            const char *text = (const char *)sqlite3_column_text(statement, column);
            printf("%s%s", column == 0 ? "" : "|", text == NULL ? "null" : text);
        }
        puts("");
    }
    int ended = sqlite3_finalize(statement);
    if (result != SQLITE_DONE) { printf("step: %d, finalize: %d, %s\n", result, ended, sqlite3_errmsg(store)); }
}

void print_state(sqlite3 *store, const char *call, int result) {
    int code = sqlite3_errcode(store), extended = sqlite3_extended_errcode(store);
    printf(
        "%s: %d, %d %d at %d %s, %s; changes %d of %d, last row %lld, autocommit %d\n", call, result, code, extended,
        sqlite3_error_offset(store), sqlite3_errmsg(store), sqlite3_errstr(code), sqlite3_changes(store),
        sqlite3_total_changes(store), (long long)sqlite3_last_insert_rowid(store), sqlite3_get_autocommit(store));
}

int events[128];

void print_events(const char *what) {
    printf("%s:", what);
    for (int event = 0; event < 128; event++) {
        if (events[event] != 0) { printf(" %d × %d", events[event], event); }
        events[event] = 0;
    }
    puts("");
}

void use(void) {
    sqlite3 *store = open_store("use.sqlite");
    if (store == NULL) { return; }
    execute(store, "DROP TABLE IF EXISTS used; CREATE TABLE used(id INTEGER PRIMARY KEY, name TEXT, body BLOB); BEGIN");
    sqlite3_stmt *insert = prepare(store, "INSERT INTO used(name, body) VALUES (?, zeroblob(?))");
    for (int row = 0; row < 20; row++) {
        char name[] = {(char)('a' + row % 3), 0};
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(insert, 2, row * 100);
        int result = sqlite3_step(insert), ended = sqlite3_reset(insert);
        if (result != SQLITE_DONE) { printf("insert: %d, reset: %d\n", result, ended); }
    }
    sqlite3_finalize(insert);
    execute(store, "COMMIT");
    print_rows(store, "SELECT name, count(*), sum(length(body)) FROM used GROUP BY name ORDER BY 2, 1");
    print_rows(store, "SELECT count(*) FROM used AS one JOIN used AS other ON one.name = other.name WHERE one.id > 5");
    printf("%lld used\n", (long long)number(store, "SELECT max(id) FROM used"));
    printf("close: %d\n", sqlite3_close(store));
}

bool use_little(void) {
    sqlite3 *store = NULL;
    bool is_done = sqlite3_open(":memory:", &store) == SQLITE_OK
        && sqlite3_exec(store, "SELECT 1", NULL, NULL, NULL) == SQLITE_OK;
    return sqlite3_close(store) == SQLITE_OK && is_done;
}

// MARK: - Processes

void print_end(const char *what, int status) {
    if (WIFEXITED(status)) { printf("%s: status %d\n", what, WEXITSTATUS(status)); }
    if (WIFSIGNALED(status)) { printf("%s: SIG%s\n", what, sigabbrev_np(WTERMSIG(status))); }
    if (WIFSTOPPED(status)) { printf("%s: stopped by SIG%s\n", what, sigabbrev_np(WSTOPSIG(status))); }
    if (WIFCONTINUED(status)) { printf("%s: continued\n", what); }
}

void await(const char *what, pid_t child) {
    int status = 0;
    require(child > 0, what);
    pid_t ended;
    do { ended = waitpid(child, &status, 0); } while (ended < 0 && errno == EINTR);
    require(ended == child, "waitpid");
    print_end(what, status);
}

KIND(uses) { use(); }

// Uses SQLite after each setting, in a process of its own.
static void try_settings(const char *need) {
    for (size_t index = 0; index < kind_count; index++) {
        const kind *kind = &kinds[index];
        if (!kind->is_setting || strcmp(kind->need, need) != 0) { continue; }
        puts(kind->name);
        pid_t child = fork();
        if (child == 0) {
            execl(own_path, own_path, kind->name, directory, (char *)NULL);
            _exit(127);
        }
        await(kind->name, child);
    }
}

KIND(settings) { try_settings(""); }
KIND_FOR_ROOT(settings_for_root) { try_settings("root"); }

static void list(void) {
    for (size_t index = 0; index < kind_count; index++) {
        if (!kinds[index].is_setting) { printf("%s %s\n", kinds[index].name, kinds[index].need); }
    }
}

int main(int count, char **arguments) {
    // Each line is written at once, so that no child inherits an unwritten one and prints it again.
    setvbuf(stdout, NULL, _IOLBF, 4096);
    if (count == 2 && strcmp(arguments[1], "kinds") == 0) { return (list(), 0); }
    if (count > 2 && strcmp(arguments[1], "on_terminal") == 0) {
        print_end("command", run_on_terminal(arguments + 2));
        return 0;
    }
    if (count < 3) {
        fputs("usage: guest KIND DIRECTORY, guest kinds, or guest on_terminal COMMAND\n", stderr);
        return 64;
    }
    // Some kinds crash.
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    own_path = arguments[0];
    directory = arguments[2];
    for (size_t index = 0; index < kind_count; index++) {
        const kind *kind = &kinds[index];
        if (strcmp(kind->name, arguments[1]) != 0) { continue; }
        kind->run();
        if (kind->runs_again) {
            execl(own_path, own_path, "uses", directory, (char *)NULL);
            require(false, "execl");
        }
        if (kind->is_setting) { use(); }
        return 0;
    }
    return (fprintf(stderr, "guest: no kind \"%s\"\n", arguments[1]), 64);
}
