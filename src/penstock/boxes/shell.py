"""`shell`: a command on a worker that allows it, inside one folder, and killed with all its children on cancel."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from penstock.boxes.failures import Failing, wrong
from penstock.boxes.functions import context_of
from penstock.boxes.process_cleanup import MARK, kill_all
from penstock.flow.model.run_input import Done, Outcome
from penstock.flow.values.payload import NotJson, TooLarge, payload_limit, pure, storable_text
from penstock.steps.palette import SHELL
from penstock.workers.context import Context
from penstock.workers.task import Task

PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "HOME", "TMPDIR")
"""Variables of the worker that a command sees; no others, for some are secret."""

POLL_INTERVAL = 0.02
"""Seconds between two checks of a command whose pipes are open."""

OUTPUT_TIMEOUT = 1.0
"""Seconds to keep reading from an ended command whose pipes another process holds."""

MAX_SHOWN = 2000
"""Characters of the error output that are shown."""


def shell_task(folder: Path) -> Task:
    """The task `shell` of a worker whose commands run in `folder` and below."""
    root = folder.resolve()

    async def shell(ctx: Context, **params: Any) -> Outcome:
        try:
            return await _run(root, ctx, params)
        except Failing as failing:
            return failing.outcome

    return Task(shell, SHELL, takes_context=True, is_async=True, arguments=None, open=True)


async def _run(root: Path, ctx: Context, params: Mapping[str, Any]) -> Outcome:
    command, cwd = _command(params.get("command")), _folder(root, params.get("cwd"))
    env = _env(params.get("env"))
    mark = secrets.token_hex(16)
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env={**env, MARK: mark},
            start_new_session=True,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except (OSError, ValueError) as error:
        raise wrong(
            f"the command '{command[0]}' cannot be started: {getattr(error, 'strerror', None) or error}"
        ) from None
    talk = _Talk(process, msgspec.json.encode(context_of(ctx, params)))
    try:
        code = await talk.ended()
    finally:
        # Also what the command left behind: what lives on would do its work twice, and keep its pipes open.
        kill_all(process.pid, mark, lives=process.returncode is None)
        await talk.close()
    errors = storable_text(talk.errors.decode("utf-8", "replace"))
    for line in errors.splitlines()[-50:]:
        ctx.log.info("%s", line)
    if code:
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        raise Failing(
            f"the command '{command[0]}' {ended}", detail={"code": code, "stderr": errors[-MAX_SHOWN:]}
        )
    return Done(output=_output(command[0], bytes(talk.output)))


class _Talk:
    """What a command is told, and the end of what it says: it may say any amount, and only its last line counts."""

    def __init__(self, process: asyncio.subprocess.Process, said: bytes) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self.output, self.errors = bytearray(), bytearray()
        self._process = process
        self._all = asyncio.gather(
            _tell(process.stdin, said),
            _hear(process.stdout, self.output),
            _hear(process.stderr, self.errors),
        )

    async def ended(self) -> int:
        """The exit code. Some loops tell it only when all pipes are closed, which a child may hold open."""
        while self._process.returncode is None and not self._all.done():
            await asyncio.wait({self._all}, timeout=POLL_INTERVAL)
        code = self._process.returncode
        return await self._process.wait() if code is None else code

    async def close(self) -> None:
        """Hear what was still said, and the end; what nobody could end may hold the pipes, and is not waited for."""
        end = asyncio.ensure_future(self._process.wait())
        both: set[asyncio.Future[Any]] = {self._all, end}
        await asyncio.wait(both, timeout=OUTPUT_TIMEOUT)
        if not (self._all.done() and end.done()):
            end.cancel()
            self._all.cancel()
            self._process._transport.close()  # type: ignore[attr-defined]  # there is no other way to close them


async def _tell(pipe: asyncio.StreamWriter, said: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):  # uvloop: "the handler is closed"
        pipe.write(said)
        await pipe.drain()
    pipe.close()


async def _hear(pipe: asyncio.StreamReader, output: bytearray) -> None:
    while part := await pipe.read(65536):
        output += part
        del output[: -(payload_limit() + 4096)]


def _output(command: str, output: bytes) -> Any:
    """The last line as JSON, null where there is no line. Raises Failing where it is something else."""
    lines = output.decode("utf-8", "replace").rstrip().rsplit("\n", 1)
    last = lines[-1].strip()
    if not last:
        return None
    if len(last) > payload_limit():
        message = f"the last line of '{command}' has more than {payload_limit()} bytes"
        raise Failing(message, "too_large", retry=False)
    try:
        return pure(msgspec.json.decode(last.encode()))
    except msgspec.DecodeError:
        why = f"no JSON: {last[:200]!r}; a command says its result there"
    except RecursionError:
        why = "JSON that is nested too deeply"
    except (TooLarge, NotJson) as error:
        raise Failing(f"the result of '{command}' {error}", "too_large", retry=False) from None
    raise Failing(f"the last line of '{command}' is {why}", retry=False)


def _command(value: Any) -> list[str]:
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise wrong(f"`command` cannot be read: {error}") from None
    if not isinstance(words, list) or not words or not all(isinstance(each, str) for each in words):
        raise wrong("`command` must be a program with its arguments, such as [convert, in.png, out.jpg]")
    return words


def _folder(root: Path, value: Any) -> Path:
    """A folder inside the worker's. Raises Failing: no link and no `..` leads out of it."""
    if value is not None and not isinstance(value, str):
        raise wrong("`cwd` must be the name of a folder")
    found = (root / (value or ".")).resolve()
    if not found.is_relative_to(root):
        raise wrong(f"`cwd` {value!r} leads out of the folder of this worker")
    if not found.is_dir():
        raise wrong(f"`cwd` {value!r} is no folder on this worker")
    return found


def _env(value: Any) -> dict[str, str]:
    env = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    if value is None:
        return env
    if not isinstance(value, Mapping):
        raise wrong("`env` must be a map from names to texts")
    return {**env, **{str(name): str(each) for name, each in value.items()}}
