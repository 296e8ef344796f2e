-- What an author works on; nothing that runs reads it.
CREATE TABLE draft (
    workflow text COLLATE "C" PRIMARY KEY,
    definition text NOT NULL,
    title text,
    author text NOT NULL,
    at timestamptz NOT NULL
);
