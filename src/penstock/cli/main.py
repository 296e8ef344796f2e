"""The command `penstock`."""


def main() -> None: ...
