"""A program of many kinds, which uses SQLite and knows nothing of Faultline.

It prints nothing that depends on times, addresses or the numbers of processes.
"""

import asyncio
import atexit
import faulthandler
import gc
import multiprocessing
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from multiprocessing import forkserver, resource_tracker

KINDS = {}


def kind(function):
    KINDS[function.__name__] = function
    return function


def notes(rows=20, **options):
    """Opens a connection to memory with a table of some rows."""
    store = sqlite3.connect(":memory:", **options)
    store.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, name TEXT, body BLOB)")
    values = [(chr(97 + n % 26), bytes(n)) for n in range(rows)]
    store.executemany("INSERT INTO note (name, body) VALUES (?, ?)", values)
    store.commit()
    return store


def total(store, column="id"):
    return store.execute(f"SELECT sum({column}) FROM note").fetchone()[0]


def use():
    store = notes()
    print(total(store), store.execute("SELECT max(name), count(*) FROM note WHERE id > ?", (3,)).fetchall())
    store.close()


def attempt(call, *arguments, **options):
    """Prints what a call returns, or the error that it raises."""
    try:
        print("returned", call(*arguments, **options))
    except Exception as error:
        # Some errors name threads by their numbers.
        text = str(error).split("The object was created")[0]
        code = getattr(error, "sqlite_errorname", ""), getattr(error, "sqlite_errorcode", "")
        print(type(error).__name__, text, *code)


# Threads


@kind
def threads_on_small_stacks():
    for size in [32768, 36864, 49152, 65536, 131072]:
        threading.stack_size(size)
        thread = threading.Thread(target=lambda: print(size, total(notes(3))))
        thread.start()
        thread.join()


@kind
def threads_at_work():
    results = []

    def work(number):
        store = notes(number)
        for _ in range(20):
            results.append(total(store))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(results), sum(results))


@kind
def connection_of_other_thread():
    store, shared = notes(), notes(check_same_thread=False)
    thread = threading.Thread(target=lambda: (attempt(total, store), attempt(total, shared)))
    thread.start()
    thread.join()


@kind
def exit_in_thread():
    def leave():
        use()
        sys.exit(3)

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    thread = threading.Thread(target=lambda: total(None))
    threading.excepthook = lambda error: print("failed", error.exc_type.__name__, error.exc_value)
    thread.start()
    thread.join()
    sys.exit("a last word")


@kind
def daemon_threads_at_end():
    ready = threading.Barrier(5)

    def work():
        store = notes()
        ready.wait()
        while True:
            total(store)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    ready.wait()
    atexit.register(use)


# Processes


def work_in_child(number):
    return number, total(notes(number))


def run_pool(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        print(method, sorted(pool.map(work_in_child, range(1, 6))))


def stop_helpers():
    """Python's helpers notice that the program has ended, and may outlive it until then. It has no public way to stop them."""
    # The helpers complain of semaphores of a pool that is still there.
    gc.collect()
    forkserver._forkserver._stop()
    resource_tracker._resource_tracker._stop()


@kind
def forked_workers():
    use()
    run_pool("fork")


@kind
def spawned_workers():
    run_pool("spawn")
    stop_helpers()


@kind
def workers_of_server():
    run_pool("forkserver")
    stop_helpers()


@kind
def forked_child():
    use()
    child = os.fork()
    if child == 0:
        use()
        sys.stdout.flush()
        os._exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    words = [sys.executable, "-c", "import sqlite3; print(sqlite3.connect(':memory:').execute('SELECT 7').fetchall())"]
    print(subprocess.run(words, capture_output=True, text=True).stdout)
    print(subprocess.run(words, capture_output=True, text=True, env={}, close_fds=True, start_new_session=True).stdout)


@kind
def end_at_once():
    use()
    sys.stdout.flush()
    os._exit(9)


@kind
def end_by_signal():
    use()
    sys.stdout.flush()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


@kind
def end_by_fault():
    import ctypes

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    use()
    sys.stdout.flush()
    faulthandler.enable(all_threads=False)
    ctypes.string_at(8)


@kind
def end_with_error():
    use()
    notes().execute("SELECT * FROM missing")


# Signals


@kind
def timers():
    caught = []
    store = notes()
    signal.signal(signal.SIGPROF, lambda number, frame: caught.append(number))
    signal.signal(signal.SIGALRM, lambda number, frame: caught.append(number))
    signal.setitimer(signal.ITIMER_PROF, 0.004, 0.004)
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    while caught.count(signal.SIGPROF) < 10 or caught.count(signal.SIGALRM) < 10:
        assert total(store) == 210
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(signal.getsignal(signal.SIGUSR1), signal.sigpending())
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGPROF})
    print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    signal.raise_signal(signal.SIGUSR1)
    use()
    print(signal.sigwait({signal.SIGUSR1}))


@kind
def error_in_handler():
    class Late(Exception):
        pass

    def fail(number, frame):
        raise Late("too late")

    store = notes(2000)
    signal.signal(signal.SIGALRM, fail)
    for _ in range(5):
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        try:
            while True:
                total(store)
        except Late as error:
            print(error)
    print(total(store))


# The interpreter


@kind
def observed_interpreter():
    calls = {"line": 0, "call": 0, "return": 0, "c_call": 0, "c_return": 0, "exception": 0}

    def observe(frame, event, argument):
        if frame.f_code.co_name in ("notes", "total", "<listcomp>"):
            calls[event] = calls.get(event, 0) + 1
        return observe

    for watch in [sys.settrace, sys.setprofile]:
        watch(observe)
        total(notes())
        watch(None)
        print(sorted(calls.items()))


@kind
def collected_garbage():
    phases = []
    gc.callbacks.append(lambda phase, info: phases.append((phase, info["generation"])))
    gc.disable()
    for _ in range(3):
        store = notes()
        rows = store.execute("SELECT * FROM note")
        next(rows)
        cycle = [store, rows]
        cycle.append(cycle)
        del store, rows, cycle
        gc.collect()
    print(phases)
    gc.callbacks.clear()
    gc.enable()


@kind
def deep_recursion():
    store = notes()
    depths = []

    def descend(depth):
        depths.append(depth)
        total(store)
        descend(depth + 1)

    attempt(descend, 0)
    print(len(depths))
    store.create_function("again", 1, lambda n: store.execute("SELECT again(?)", (n - 1,)).fetchone()[0] if n else 7)
    print(store.execute("SELECT again(12)").fetchone())
    attempt(lambda: store.execute("SELECT again(3000)").fetchone())


@kind
def subinterpreters():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        return use()
    for _ in range(3):
        interpreter = interpreters.create()
        try:
            words = "print(sqlite3.connect(':memory:').execute('SELECT 5').fetchall(), flush=True)"
            interpreters.run_string(interpreter, "import sqlite3; " + words)
        except Exception as error:
            print(type(error).__name__)
        interpreters.destroy(interpreter)
    use()


@kind
def asynchronous():
    async def work(number):
        store = notes(number)
        found = []
        for row in store.execute("SELECT id FROM note"):
            found.append(row[0])
            await asyncio.sleep(0)
        return sum(found)

    async def all_work():
        values = await asyncio.gather(*[work(n) for n in range(1, 12)])
        return values + [await asyncio.to_thread(lambda: total(notes(5)))]

    print(asyncio.run(all_work()))
    attempt(asyncio.run, asyncio.wait_for(asyncio.sleep(10), 0.005))


# SQLite


@kind
def callbacks():
    store = notes()
    texts, progress, allowed = [], [], []
    store.set_trace_callback(texts.append)
    print(total(store))
    store.set_trace_callback(None)
    store.set_progress_handler(lambda: progress.append(1), 1)
    store.execute("SELECT count(*) FROM note a, note b").fetchall()
    print(len(progress))
    store.set_progress_handler(lambda: 1, 5)
    attempt(store.execute, "SELECT max(a.id * b.id) FROM note a, note b")
    store.set_progress_handler(None, 0)

    def allow(*words):
        allowed.append(words[:3])
        return sqlite3.SQLITE_DENY if words[2] == "body" else sqlite3.SQLITE_OK

    store.set_authorizer(allow)
    attempt(lambda: store.execute("SELECT name FROM note WHERE id = 2").fetchall())
    attempt(store.execute, "SELECT body FROM note")
    print(len(texts), texts, allowed)


@kind
def functions():
    store = notes()

    class Longest:
        def __init__(self):
            self.value = ""

        def step(self, value):
            self.value = max(self.value, value)

        def finalize(self):
            return self.value

    store.create_function("fail", 0, lambda: 1 / 0)
    store.create_function("twice", 1, lambda value: value * 2, deterministic=True)
    store.create_aggregate("longest", 1, Longest)
    store.create_collation("backwards", lambda one, other: (one < other) - (one > other))
    attempt(lambda: store.execute("SELECT fail()").fetchall())
    attempt(lambda: store.execute("SELECT longest(twice(name)) FROM note").fetchall())
    attempt(lambda: store.execute("SELECT name FROM note ORDER BY name COLLATE backwards LIMIT 2").fetchall())
    sqlite3.enable_callback_tracebacks(True)
    sys.unraisablehook = lambda error: print("unraisable", error.exc_type.__name__)
    attempt(lambda: store.execute("SELECT fail() + 1").fetchall())


@kind
def errors():
    store = notes()
    store.execute("CREATE TABLE only (a UNIQUE NOT NULL CHECK (a > 0))")
    for sql, values in [
        ("SELEC 1", ()), ("SELECT 1; SELECT 2", ()), ("SELECT ?", ()), ("SELECT ?", (1, 2)), ("SELECT :a", {"b": 1}),
        ("", ()), ("SELECT ?", (object(),)), ("SELECT ?", (1 << 70,)), ("INSERT INTO only VALUES (?)", (None,)),
        ("INSERT INTO only VALUES (-1)", ()), ("INSERT INTO only VALUES (1), (1)", ()), ("SELECT missing FROM note", ()),
        ("SELECT abs(-9223372036854775808)", ()), ("SELECT '\0'", ()), ("SELECT ?", ("\udcff",)),
        ("ATTACH '/nowhere/file' AS other", ()), ("COMMIT", ()), ("PRAGMA user_version = 3", ()),
    ]:
        attempt(lambda: store.execute(sql, values).fetchall())
        print(store.in_transaction, store.total_changes)
    attempt(store.executescript, "INSERT INTO only VALUES (5); SELECT 1; INSERT INTO only VALUES (5), (6)")
    print(store.execute("SELECT * FROM only").fetchall())
    attempt(store.executemany, "INSERT INTO only VALUES (?)", [(7,), (8,), (7,), (9,)])
    print(store.execute("SELECT * FROM only").fetchall(), store.in_transaction)
    store.rollback()
    cursor = store.execute("INSERT INTO only VALUES (20), (21) RETURNING a")
    print(cursor.fetchall(), cursor.rowcount, cursor.lastrowid, cursor.description)
    store.close()
    attempt(store.execute, "SELECT 1")
    try:
        notes().execute("SELECT no_such")
    except sqlite3.OperationalError:
        print("".join(line for line in traceback.format_exc().splitlines(True) if "File" not in line))


@kind
def copies():
    store, other = notes(300), sqlite3.connect(":memory:")
    print(len(list(store.iterdump())), sum(map(len, store.iterdump())))
    steps = []
    store.backup(other, pages=2, progress=lambda status, left, pages: steps.append((status, left, pages)))
    print(steps, total(other))
    if sys.version_info < (3, 11):
        return
    with store.blobopen("note", "body", 100) as blob:
        blob.write(b"abc")
        blob.seek(1)
        print(blob.read(3), len(blob), blob[0])
        attempt(blob.write, bytes(1000))
    attempt(store.blobopen, "note", "body", 10000)
    copy = sqlite3.connect(":memory:")
    copy.deserialize(store.serialize())
    print(total(copy), copy.execute("SELECT substr(body, 1, 3) FROM note WHERE id = 100").fetchone())


@kind
def open_cursors():
    store = notes()

    def names():
        for row in store.execute("SELECT name FROM note ORDER BY id"):
            yield row[0]

    left = [names() for _ in range(5)]
    print([next(each) for each in left], [next(each) for each in left])
    store.execute("UPDATE note SET name = 'z'")
    store.commit()
    print(next(left[0]))
    left[1].close()
    rows = store.execute("SELECT id FROM note")
    rows.fetchmany(3)
    attempt(store.execute, "DROP TABLE note")
    store.rollback()
    print(rows.fetchone())
    store.close()
    attempt(next, left[2])
    attempt(rows.fetchone)


@kind
def big_results():
    store = sqlite3.connect(":memory:")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)"
    rows = numbers + " SELECT i, 'row ' || i FROM n"
    print(len(store.execute(rows).fetchall()), len(store.execute("SELECT zeroblob(20000000)").fetchone()[0]))
    print(len(store.execute("SELECT ?", ("x" * 5_000_000,)).fetchone()[0]))
    many = ", ".join(f"{n} AS column{n}" for n in range(1500))
    cursor = store.execute("SELECT " + many)
    print(len(cursor.description), sum(cursor.fetchone()))
    print(store.execute(f"SELECT {' + '.join(['1'] * 900)}").fetchone())


@kind
def busy_files():
    path = os.path.join(sys.argv[2], "busy.sqlite")
    one, other = sqlite3.connect(path, timeout=0.02), sqlite3.connect(path, timeout=0.02, isolation_level=None)
    one.execute("CREATE TABLE t (a)")
    one.execute("INSERT INTO t VALUES (1)")
    attempt(other.execute, "BEGIN IMMEDIATE")
    attempt(lambda: other.execute("SELECT count(*) FROM t").fetchall())
    one.commit()
    attempt(lambda: other.execute("SELECT count(*) FROM t").fetchall())
    thread = threading.Thread(target=lambda: (time.sleep(0.01), other.execute("ROLLBACK")))
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    waiting = sqlite3.connect(path, timeout=20)
    thread.start()
    waiting.execute("INSERT INTO t VALUES (2)")
    thread.join()
    waiting.commit()
    print(one.execute("SELECT sum(a) FROM t").fetchone())


if __name__ == "__main__":
    if sys.argv[1:] == ["kinds"]:
        print("\n".join(KINDS))
    else:
        KINDS[sys.argv[1]]()
