"""SWE-bench without Harbor: its instances as tasks, and the patches of a batch as predictions.

    python3 swebench.py tasks instances.jsonl > tasks.jsonl
    sawtooth batch tasks.jsonl --out results --permission-mode auto --task-budget-usd 2 --task-time 45m
    python3 swebench.py predictions results > predictions.jsonl

A line that cannot be used ends it with exit code 2 and one line on stderr that names the line.
"""

import json
import os
import pathlib
import sys

usage = "python3 swebench.py tasks <instances.jsonl> | predictions <results folder> ..."


def fail(text):
    sys.stdout.flush()
    print(f"swebench.py: {text}", file=sys.stderr)
    sys.exit(2)


def reason(error):
    return error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8"


def rows(file, **types):
    """Each line of a JSONL file as an object that has these fields, with where it stands. Blank lines are skipped."""
    try:
        lines = pathlib.Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {file}: {reason(error)}")
    for number, line in enumerate(lines, 1):
        if line.strip() == "":
            continue
        where = f"{file}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            fail(f"{where}: not complete JSON; is the file cut off?")
        if not isinstance(row, dict):
            fail(f"{where}: not a JSON object")
        for name, kind in types.items():
            if name not in row:
                fail(f"{where}: there is no {name}")
            if not isinstance(row[name], kind):
                fail(f"{where}: {name} is not {'a text' if kind is str else 'a text or null'}")
        yield row, where


def tasks(file):
    for row, _ in rows(file, instance_id=str, repo=str, base_commit=str, problem_statement=str):
        yield {
            "id": row["instance_id"],
            "repo": f"https://github.com/{row['repo']}.git",
            "ref": row["base_commit"],
            "prompt": f"Resolve this issue. Leave the tests as they are.\n\n{row['problem_statement']}",
        }


def predictions(*folders):
    newest = {}
    for folder in map(pathlib.Path, folders):
        text_or_null = (str, type(None))
        for result, where in rows(folder / "results.jsonl", id=str, model=text_or_null, patch=text_or_null):
            newest[result["id"]] = (result, folder, where)
    for result, folder, where in newest.values():
        yield {
            "instance_id": result["id"],
            "model_name_or_path": f"sawtooth {result['model']}",
            "model_patch": patch(folder, result["patch"], where),
        }


def patch(folder, name, where):
    if not name:
        return ""
    try:
        # As bytes: a patch keeps its line endings.
        return (folder / name).read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        fail(f"{where}: cannot read its patch {folder / name}: {reason(error)}")


def main(words):
    commands = {"tasks": (tasks, 1, 1), "predictions": (predictions, 1, sys.maxsize)}
    command, least, most = commands.get(words[0] if words else "", (None, 0, 0))
    if command is None or not least <= len(words) - 1 <= most:
        fail(f"usage: {usage}")
    try:
        for row in command(*words[1:]):
            print(json.dumps(row))
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has enough; at the end Python would flush once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


main(sys.argv[1:])
