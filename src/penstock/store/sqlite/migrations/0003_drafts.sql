-- What an author works on; nothing that runs reads it.
CREATE TABLE draft (
  workflow TEXT PRIMARY KEY NOT NULL,
  definition TEXT NOT NULL,
  title TEXT,
  author TEXT NOT NULL,
  at INTEGER NOT NULL
);
