-- A row of a table without rowid lies in the tree's inner pages too, of which
-- lines of half a kilobyte make six or seven levels. Under a number for a key it
-- lies in the leaves alone, and three levels hold a million messages.

ALTER TABLE nodes RENAME TO nodes_1; -- its rows are moved after the database was opened

CREATE TABLE nodes (
	at       INTEGER PRIMARY KEY, -- threads.n << 37 | seq << 5 | level, of the span's last message
	time     INTEGER NOT NULL,    -- of that message, so that its row need not be read
	text     TEXT,                -- null once erased
	writer   TEXT NOT NULL,
	version  INTEGER NOT NULL,
	usage    TEXT,
	revision INTEGER NOT NULL DEFAULT 0
) STRICT;
