"""The store on SQLite: one file, one process, one writer whose commits share an fsync."""
