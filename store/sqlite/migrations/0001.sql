-- Keys begin with space and family root, so that a family of forks stays
-- together wherever the tables may one day be split.

CREATE TABLE threads (
	n        INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: it is packed into other keys
	space    TEXT NOT NULL,
	root     TEXT NOT NULL,
	id       TEXT NOT NULL,
	title    TEXT NOT NULL,
	meta     TEXT,
	created  INTEGER NOT NULL,                  -- times are milliseconds since 1970
	updated  INTEGER NOT NULL,
	deleted  INTEGER NOT NULL DEFAULT 0,
	gone     INTEGER NOT NULL DEFAULT 0,        -- purged, but forks still see entries of it
	epoch    TEXT NOT NULL,
	segments TEXT NOT NULL,
	lineage  TEXT NOT NULL,
	shared   INTEGER NOT NULL DEFAULT 0,        -- forks see the entries up to this seq
	tip      INTEGER NOT NULL,
	fixed    INTEGER NOT NULL,
	last     INTEGER NOT NULL,
	length   INTEGER NOT NULL,
	branch   INTEGER NOT NULL,
	cut      INTEGER NOT NULL,
	cuts     INTEGER NOT NULL,
	turn     INTEGER NOT NULL,
	inbox    TEXT,
	parked   INTEGER NOT NULL,
	backlog  INTEGER NOT NULL,
	indexed  INTEGER NOT NULL,
	owner    TEXT NOT NULL,
	fence    INTEGER NOT NULL,
	until    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX threads_id ON threads (space, id);
CREATE INDEX threads_family ON threads (space, root, n);
CREATE INDEX threads_updated ON threads (space, updated, id);
CREATE INDEX threads_due ON threads (n) WHERE backlog > 0;

CREATE TABLE entries (
	at     INTEGER PRIMARY KEY, -- threads.n << 32 | seq: unique, and a log lies together
	thread INTEGER NOT NULL,
	kind   TEXT NOT NULL,
	branch INTEGER NOT NULL,
	idx    INTEGER,
	prev   INTEGER NOT NULL,
	id     TEXT NOT NULL,
	time   INTEGER NOT NULL,
	key    TEXT,
	sum    BLOB,                -- of what the key stands for
	role   TEXT,
	author TEXT,
	line   TEXT,                -- the text of the widest node that was joined when it was said
	ends   TEXT,                -- each narrower one, the verbatim line first, is its end of so many bytes
	body   TEXT                 -- null once erased
) STRICT;
CREATE UNIQUE INDEX entries_index ON entries (thread, branch, idx) WHERE idx IS NOT NULL;
CREATE UNIQUE INDEX entries_key ON entries (thread, key) WHERE key IS NOT NULL;
CREATE INDEX entries_cut ON entries (at) WHERE kind = 'cut';

CREATE TABLE nodes (
	thread   INTEGER NOT NULL, -- where the span's last message was said
	seq      INTEGER NOT NULL, -- of that message
	level    INTEGER NOT NULL,
	text     TEXT,             -- null once erased
	writer   TEXT NOT NULL,
	version  INTEGER NOT NULL,
	usage    TEXT,
	revision INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (thread, seq, level)
) STRICT, WITHOUT ROWID;

CREATE TABLE due (
	thread INTEGER NOT NULL,
	seq    INTEGER NOT NULL,
	level  INTEGER NOT NULL,
	branch INTEGER NOT NULL,
	idx    INTEGER NOT NULL,
	PRIMARY KEY (thread, seq, level)
) STRICT, WITHOUT ROWID;

CREATE TABLE docs (
	thread INTEGER NOT NULL,
	name   TEXT NOT NULL,
	data   TEXT NOT NULL,
	PRIMARY KEY (thread, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
	n     INTEGER PRIMARY KEY,
	space TEXT NOT NULL,
	root  TEXT NOT NULL,
	hash  TEXT NOT NULL,
	type  TEXT NOT NULL,
	data  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_hash ON blobs (space, root, hash);

-- The terms of each message, in order; rowid is entries.at.
CREATE VIRTUAL TABLE words USING fts5 (terms, content='', contentless_delete=1, tokenize='ascii');
