"""Sawtooth as an agent of Harbor, for terminal-bench, SWE-bench and the other data sets that Harbor runs.

    sh bundle.sh                        # once; writes sawtooth.tar.gz
    export SAWTOOTH_BUNDLE=$PWD/sawtooth.tar.gz PYTHONPATH=$PWD ANTHROPIC_API_KEY=...
    harbor run --dataset terminal-bench@2.0 --agent-import-path sawtooth_agent:SawtoothAgent \
        --model anthropic/claude-sonnet-5-5 --n-concurrent 8
"""

import json
import os
import shlex

from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template

KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)


class SawtoothAgent(BaseInstalledAgent):
    SUPPORTS_ATIF = False
    # Where they lie in the container; Harbor keeps what is in the second one.
    place = "/opt"
    logs = "/logs/agent"

    @staticmethod
    def name():
        return "sawtooth"

    def get_version_command(self):
        return f"PATH={self.place}/sawtooth/bin:$PATH sawtooth --version"

    async def install(self, environment):
        await environment.upload_file(os.environ["SAWTOOTH_BUNDLE"], "/tmp/sawtooth.tar.gz")
        await self.exec_as_root(
            environment,
            command=f"mkdir -p {self.place} && tar -xzf /tmp/sawtooth.tar.gz -C {self.place}",
        )

    @with_prompt_template
    async def run(self, instruction, environment, context):
        words = [
            *("sawtooth", "-p", "-", "--permission-mode", "auto", "--bare"),
            *("--output-format", "stream-json", "--session-dir", f"{self.logs}/sessions"),
            *("--max-turns", os.environ.get("SAWTOOTH_MAX_TURNS", "200")),
            *("--max-budget-usd", os.environ.get("SAWTOOTH_MAX_BUDGET_USD", "5")),
            *(["--model", self.model_name] if self.model_name else []),
        ]
        # The tests of the task decide what was reached; a limit or a refusal is no error of the trial.
        command = (
            f"export PATH={self.place}/sawtooth/bin:$PATH; mkdir -p {self.logs}; "
            f"printf %s {shlex.quote(instruction)} | {shlex.join(words)} "
            f">{self.logs}/stream.jsonl 2>{self.logs}/stderr.txt || true"
        )
        env = {name: os.environ[name] for name in KEYS if os.environ.get(name)}
        await self.exec_as_agent(environment, command=command, env=env)

    def populate_context_post_run(self, context):
        result = self._result()
        if result is None:
            return
        usage = result["usage"]
        cached = usage["cache_read_input_tokens"]
        context.n_cache_tokens = cached
        context.n_input_tokens = (
            usage["input_tokens"] + cached + usage["cache_creation_input_tokens"]
        )
        context.n_output_tokens = usage["output_tokens"]
        context.cost_usd = result["total_cost_usd"]
        context.metadata = {
            name: result[name]
            for name in ("subtype", "terminal_reason", "num_turns", "session_id", "errors")
        }

    def _result(self):
        """The last line of the stream; None when the agent could not even begin."""
        try:
            with open(self.logs_dir / "stream.jsonl", encoding="utf-8") as lines:
                for line in lines:
                    if line.startswith('{"type":"result"'):
                        return json.loads(line)
        except OSError:
            pass
        return None
