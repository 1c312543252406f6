"""The output of a command on a terminal, as a page for a browser."""

import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import termios

COLUMNS = 100

# The colours of a terminal by their codes, on a dark and on a light background.
COLOURS = {
    True: {31: "#ff7b72", 32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd"},
    False: {31: "#b3261e", 32: "#116329", 33: "#7d4e00", 34: "#0550ae", 35: "#6639ba", 36: "#1b6a72"},
}
BACKGROUND = {True: ("#161b22", "#e6edf3"), False: ("#f6f8fa", "#1f2328")}


def output(arguments, folder):
    """What a command prints to a terminal of that folder, with its colours. Its exit status does not matter."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave)
    os.close(slave)
    pieces = []
    try:
        while piece := os.read(master, 65536):
            pieces.append(piece)
    except OSError:
        pass  # Linux ends the reading of a terminal that nobody has open any more with an error.
    os.close(master)
    process.wait()
    return b"".join(pieces).decode().replace("\r\n", "\n")


def spans(text, is_dark):
    """Text with the codes of its colours turned into HTML."""
    pieces, style = [], {}
    for piece in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", text):
        if not (code := re.fullmatch(r"\x1b\[([0-9;]*)([A-Za-z])", piece)):
            css = ";".join(f"{name}:{value}" for name, value in style.items())
            pieces.append(f'<span style="{css}">{html.escape(piece)}</span>' if css and piece else html.escape(piece))
        elif code[2] == "m":
            for number in [int(part or 0) for part in code[1].split(";")]:
                if number == 0:
                    style.clear()
                elif number == 1:
                    style["font-weight"] = "bold"
                elif number == 2:
                    style["opacity"] = "0.7"
                elif number in COLOURS[is_dark]:
                    style["color"] = COLOURS[is_dark][number]
    return "".join(pieces)


def excerpt(text, first, last):
    """The lines from one that contains `first` to the one before a line with `last`, by default all; gaps are marked."""
    lines = text.strip("\n").split("\n")
    start = next(number for number, line in enumerate(lines) if first in line) if first else 0
    end = next(number for number, line in enumerate(lines) if number > start and last in line) if last else len(lines)
    shown = "\n".join(lines[start:end]).strip("\n")
    return ("…\n" if start > 0 else "") + shown + ("\n…" if end < len(lines) else "")


def page(command, text, is_dark):
    """A page that shows a command and what it printed, in an element with the identifier `terminal`."""
    background, foreground = BACKGROUND[is_dark]
    return f"""<!doctype html><meta charset="utf-8"><style>
        body {{ margin: 0; background: {background} }}
        #terminal {{
            margin: 0; padding: 20px 24px; display: inline-block; background: {background}; color: {foreground};
            font: 15px/1.35 "DejaVu Sans Mono", monospace; min-width: {COLUMNS}ch;
            font-variant-ligatures: none
        }}
        b {{ font-weight: bold }}
        </style><pre id="terminal"><b>$ {html.escape(command)}</b>\n{spans(text, is_dark)}</pre>"""
