"""Install the Debian packages that the tests use and that are not there: a browser, a broker, a pooler, an encoder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = {
    "chromium": "chromium",
    "rabbitmq-server": "/usr/sbin/rabbitmq-server",
    "pgbouncer": "/usr/sbin/pgbouncer",
    "ffmpeg": "ffmpeg",
}
"""Package → the program that it brings."""


def missing() -> list[str]:
    """The packages whose programs are not here."""
    return [name for name, program in PACKAGES.items() if shutil.which(program) is None]


def main() -> int:
    wanted = missing()
    if not wanted:
        return 0
    apt, sudo = shutil.which("apt-get"), [] if os.geteuid() == 0 else ["sudo", "-n"]
    said = f"the tests use {' and '.join(wanted)}: install them with `apt-get install {' '.join(wanted)}` as root"
    if apt is None or (sudo and shutil.which("sudo") is None):
        other = ", or, as there is no apt-get here, as this system installs programs" if apt is None else ""
        print(f"{said}{other}", file=sys.stderr)
        return 1
    print(f"Installing {' '.join(wanted)} with apt-get, which the tests use.", file=sys.stderr, flush=True)
    policy = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = [
        *sudo,
        "env",
        *(f"{key}={value}" for key, value in policy.items()),
        apt,
        "install",
        "-y",
        "-qq",
    ]
    command = [*install, "--no-install-recommends", *wanted]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode != 0:
        subprocess.run([*sudo, apt, "update", "-qq"], check=False)
        if subprocess.run(command, check=False).returncode != 0:
            print(said, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
