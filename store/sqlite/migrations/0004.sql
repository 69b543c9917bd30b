-- The lines of one width lie together, in the order of their messages, so that the
-- two that a wider one was made from are neighbours.

ALTER TABLE nodes RENAME TO nodes_2; -- its rows are moved after the database was opened

CREATE TABLE nodes (
	place    INTEGER PRIMARY KEY, -- threads.n << 37 | level << 32 | seq, of the span's last message
	time     INTEGER NOT NULL,    -- of that message, so that its row need not be read
	text     TEXT,                -- null once erased
	writer   TEXT NOT NULL,
	version  INTEGER NOT NULL,
	usage    TEXT,
	revision INTEGER NOT NULL DEFAULT 0
) STRICT;
