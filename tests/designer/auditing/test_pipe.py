"""A sampler behind a pipe: what it prints comes back, and whatever it does wrong ends in one line."""

import os
import signal
import sys
import threading
import time

import pytest
from optldp.designer.auditing.pipe import answers, split_command
from optldp.mechanisms import InputError


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def refused(words: list[str], lines=("1", "2"), timeout: float = 60.0) -> str:
    with pytest.raises(InputError) as caught:
        answers(words, list(lines), longest=100, timeout=timeout)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_lines_go_in_and_come_back():
    """Byte for byte: a line's end may tell, too."""
    lines = ["1.5", "", "zwei ü"]
    assert answers(["cat"], lines, longest=100, timeout=60.0) == [line + "\n" for line in lines]
    assert answers(python("print('a\\r\\nb', end='')"), ["1", "2"], longest=100, timeout=60.0) == ["a\r\n", "b"]


@pytest.mark.slow
def test_pipes_that_fill_up_do_not_stop_it():
    """Megabytes each way at once, and to standard error: more than any pipe holds."""
    code = "import sys\nfor line in sys.stdin:\n sys.stderr.write('x' * 500)\n print(line.strip() * 30)"
    lines = [f"{i:09}" for i in range(20_000)]
    assert answers(python(code), lines, longest=1000, timeout=120.0) == [line * 30 + "\n" for line in lines]


def test_a_command_that_does_not_read_is_no_trouble():
    lines = ["7" * 90] * 20_000
    assert answers(["sh", "-c", "yes 1 | head -n 20000"], lines, longest=100, timeout=60.0) == ["1\n"] * 20_000


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit(3)", "must end with exit code 0, got 3"),
        ("import sys; sys.exit('no \\x1b[31mtable')", "got 1: no ?[31mtable"),
        (
            "import sys; sys.exit('RangeError: no\\n    at draw (client.js:7)\\n\\nNode.js v20')",
            "RangeError: no | Node.js v20",
        ),
        ("import sys; sys.exit('  set in\\n    deeper')", "got 1: set in | deeper"),
        ("import sys; sys.exit('x' * 999)", "got 1: " + "x" * 600),
        ("import os; os.kill(os.getpid(), 9)", "must end with exit code 0, got -9"),
        ("print(1)", "must print one line for each of 2 values, got 1"),
        ("print(1, 2, 3, sep='\\n')", "must print one line for each of 2 values, got 3"),
        ("pass", "must print one line for each of 2 values, got 0"),
        ("while True: print('x' * 10000)", "must print one report a line, got more than 1048776 bytes for 2"),
    ],
)
def test_whatever_goes_wrong_is_one_line(code, says):
    assert says in refused(python(code))


@pytest.mark.slow
@pytest.mark.parametrize("code", ["import time; time.sleep(100)", "import sys\nwhile True: pass"])
def test_silence_ends(code):
    assert "must answer 2 values in 0.5 seconds, got no end: see --timeout" in refused(python(code), timeout=0.5)


def test_a_child_that_keeps_the_pipe_open_is_ended_too():
    """The command ends, and leaves another behind that would write for ever."""
    assert answers(["sh", "-c", "sleep 100 & cat"], ["1"], longest=100, timeout=60.0) == ["1\n"]


def test_an_interruption_ends_the_command(tmp_path):
    """Ctrl-C while it hangs: nothing of it stays behind."""
    place = tmp_path / "pid"
    code = f"import os, time\nopen({str(place)!r}, 'w').write(str(os.getpid()))\ntime.sleep(100)"

    def interrupt():
        while not (place.exists() and place.read_text()):
            time.sleep(0.01)
        time.sleep(0.3)  # it runs, but on a busy machine it may still be being started here
        os.kill(os.getpid(), 2)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            answers(python(code), ["1"], longest=100, timeout=60.0)
    finally:
        signal.signal(signal.SIGINT, before)
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)


@pytest.mark.parametrize(
    ("command", "says"),
    [("", "got no words"), ("  ", "got no words"), ("node 'x", "No closing quotation")],
)
def test_what_is_no_command_is_refused(command, says):
    with pytest.raises(InputError, match=says):
        split_command(command)


def test_a_program_that_is_not_there_is_refused():
    assert "must be a program that can be run: No such file or directory" in refused(["no-such-program"])
    assert "must be a program that can be run" in refused(["/"])


def test_no_shell_reads_the_command():
    assert split_command("echo $HOME; ls") == ["echo", "$HOME;", "ls"]
