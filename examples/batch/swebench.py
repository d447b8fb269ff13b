"""SWE-bench without Harbor: its instances as tasks, and the patches of a batch as predictions.

    python3 swebench.py tasks instances.jsonl > tasks.jsonl
    sawtooth batch tasks.jsonl --out results --permission-mode auto --task-budget-usd 2 --task-time 45m
    python3 swebench.py predictions results > predictions.jsonl
"""

import json
import pathlib
import sys


def tasks(file):
    for line in open(file, encoding="utf-8"):
        row = json.loads(line)
        yield {
            "id": row["instance_id"],
            "repo": f"https://github.com/{row['repo']}.git",
            "ref": row["base_commit"],
            "prompt": f"Resolve this issue. Leave the tests as they are.\n\n{row['problem_statement']}",
        }


def predictions(*folders):
    newest = {}
    for folder in map(pathlib.Path, folders):
        for line in open(folder / "results.jsonl", encoding="utf-8"):
            result = json.loads(line)
            newest[result["id"]] = (result, folder)
    for result, folder in newest.values():
        patch = (folder / result["patch"]).read_text(encoding="utf-8") if result["patch"] else ""
        yield {
            "instance_id": result["id"],
            "model_name_or_path": f"sawtooth {result['model']}",
            "model_patch": patch,
        }


for row in {"tasks": tasks, "predictions": predictions}[sys.argv[1]](*sys.argv[2:]):
    print(json.dumps(row))
