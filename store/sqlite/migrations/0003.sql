-- Access tokens. Of a secret only its hash is kept.

CREATE TABLE tokens (
	n       INTEGER PRIMARY KEY,
	space   TEXT NOT NULL,
	id      TEXT NOT NULL,
	name    TEXT NOT NULL,
	hash    TEXT NOT NULL,
	scopes  TEXT NOT NULL,              -- a JSON array
	threads TEXT,                       -- a JSON array of ids; null for all
	created INTEGER NOT NULL,
	used    INTEGER NOT NULL DEFAULT 0,
	revoked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX tokens_id ON tokens (space, id);
CREATE UNIQUE INDEX tokens_hash ON tokens (space, hash);
CREATE UNIQUE INDEX tokens_live ON tokens (space, name) WHERE revoked = 0;
