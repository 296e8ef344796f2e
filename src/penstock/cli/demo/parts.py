"""What stands beside the server of the demo, on this machine alone: a transcoder, functions, three services, files."""

from __future__ import annotations

import importlib.util
import os
import secrets
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

SECRET = "TRANSCODER"
"""The name of the secret that the transcoder signs its calls with."""
STORE = "pictures"
SLOW = "uploads/slow.mov"
"""A video of which the transcoder does not tell that it is encoded."""
PREFIX = "penstock-demo-"
PROCESS = "process"
"""The file with the number of the process whose folder it is."""
_OWN_ADDRESS = "http://127.0.0.1:8020"
"""Where the example calls its function."""


class Parts:
    """All of them, while the demo runs. A part whose example is not in the folder is left out."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.folder, self.pictures = folder, folder / STORE
        self.transcoder: Any = None
        self.coordinator: Any = None
        self.secret = secrets.token_hex(16)
        self._home, self._media = home, folder / "media"
        self._listening: list[ThreadingHTTPServer] = []

    def begin(self) -> None:
        """Lay the files out and start what listens; tasks that are imported from now on use it."""
        if not self.pictures.is_dir():  # else kept from a demo before: what is there may have been changed
            self._lay_out()
        if (file := self._home / "wardenclyffe" / "transcoder.py").is_file():
            module = _module(file)
            self.transcoder = module.Transcoder("", self.secret)
            os.environ["TRANSCODER"] = self._listen(module.listening(self.transcoder))

    def _lay_out(self) -> None:
        _laid_out(self._home / "zenko" / "data", self.pictures)
        for system in ("wardenclyffe", "viblio"):
            _laid_out(self._home / system / "data", self._media)
        if (video := self._media / "uploads" / "42.mov").is_file():
            shutil.copyfile(video, self._media / SLOW)

    @property
    def variables(self) -> dict[str, str]:
        """What tells the tasks where the files are, that no mail is sent, and that no proxy leads to what is here."""
        return {
            "MEDIA": str(self._media),
            "PICTURES": str(self.pictures),
            "PENSTOCK_SMTP_URL": "",
            "no_proxy": "*",
        }

    def placed(self, files: tuple[Path, ...]) -> tuple[Path, ...]:
        """The same workflows; one that calls a function calls that of the demo."""
        functions = self._home / "zenko" / "functions" / "serve.py"
        return tuple(self._calling(file, functions) if functions.is_file() else file for file in files)

    def _calling(self, file: Path, functions: Path) -> Path:
        text = file.read_text(encoding="utf-8")
        if _OWN_ADDRESS not in text:
            return file
        own = self.folder / file.name
        own.write_text(
            text.replace(_OWN_ADDRESS, self._listen(_module(functions).listening())), encoding="utf-8"
        )
        return own

    def release(self, base: str, token: str | None) -> str | None:
        """Stage a release of three services; its id, or None where there are no such services. Raises OSError."""
        file = self._home / "release" / "release.py"
        if not file.is_file():
            return None
        module = _module(file)
        self.coordinator = module.Coordinator(base, token)
        for name, server in module.services(self.coordinator, 0.3).items():
            self._listening.append(server)
            self.coordinator.register(name, module.address(server))
        for each in self.coordinator.call("GET", "/releases?state=staged")["results"]:
            # Those who staged it are gone, and nobody can publish it any more.
            self.coordinator.call("DELETE", f"/releases/{each['kf_id']}")
            self.coordinator.until(each["kf_id"], "canceled")
        release = str(self.coordinator.stage("Spring"))
        self.coordinator.until(release, "staged")
        return release

    def call(self, base: str, token: str | None, method: str, path: str, body: Any) -> None:
        """One call of the server's own API. Raises OSError."""
        _module(self._home / "release" / "release.py").Coordinator(base, token).call(method, path, body)

    def end(self) -> None:
        ends = [threading.Thread(target=server.shutdown) for server in self._listening]
        for each in ends:  # at once: each may take half a second to see it
            each.start()
        for each, server in zip(ends, self._listening, strict=True):
            each.join()
            server.server_close()

    def _listen(self, server: ThreadingHTTPServer) -> str:
        self._listening.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"


@contextmanager
def parts_of(home: Path, output: Path | None = None) -> Iterator[Parts]:
    """The parts, and a folder for all that the demo writes; nothing is left of either but what is `output`."""
    _sweep(Path(tempfile.gettempdir()))
    with ExitStack() as stack:
        made = tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made)) if output is None else output
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROCESS).write_text(str(os.getpid()), encoding="utf-8")
        parts = Parts(home, folder.resolve())
        stack.callback(parts.end)
        stack.enter_context(_set(parts.variables))
        parts.begin()
        yield parts


def _sweep(place: Path) -> None:
    """Remove what demos left that were killed: those had no time to do it."""
    for folder in place.glob(f"{PREFIX}*"):
        try:
            process = int((folder / PROCESS).read_text(encoding="utf-8"))
            os.kill(process, 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError):
            continue  # it is somebody else's, or not whole yet


def missing_tools() -> list[str]:
    """A sentence for each thing that the examples could use and that is not here."""
    said = []
    if shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None:
        said.append("ffmpeg and ffprobe are not installed: videos are copied, not encoded.")
    if importlib.util.find_spec("PIL") is None:
        said.append("Pillow is not installed: what a picture shows is guessed from its name.")
    return said


def _laid_out(data: Path, where: Path) -> None:
    where.mkdir(parents=True, exist_ok=True)
    if data.is_dir():
        shutil.copytree(data, where, dirs_exist_ok=True)


def _module(file: Path) -> ModuleType:
    """A module of the examples, which finds those beside it."""
    name = f"penstock_demo_{file.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "it ends in .py"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    """Variables of the environment while the block runs; what the block sets itself is unset as well."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
