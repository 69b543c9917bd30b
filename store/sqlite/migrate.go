package sqlite

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/thread"
)

// The migrations, in the order of their names. The number of the last one run
// is the database's user_version.
//
//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a database as Skein's: "skei".
const applicationID = 0x736b6569

// schema is the number of the newest migration.
func schema() (int, []fs.DirEntry, error) {
	files, err := migrations.ReadDir("migrations")
	return len(files), files, err
}

// migrate brings the database to the newest schema.
func migrate(c *conn) error {
	want, files, err := schema()
	if err != nil {
		return err
	}
	have, err := version(c)
	if err != nil || have == want {
		return err
	}
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := upgrade(c, files, want); err != nil {
		return errors.Join(err, c.Exec(`ROLLBACK`))
	}
	return c.Exec(`COMMIT`)
}

func upgrade(c *conn, files []fs.DirEntry, want int) error {
	// Another process may have done it while this one waited for the lock.
	have, err := version(c)
	if err != nil {
		return err
	}
	for _, f := range files[have:] {
		sql, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			return err
		}
		if err := c.Exec(string(sql)); err != nil {
			return fmt.Errorf("migration %s: %w", f.Name(), err)
		}
	}
	return c.Exec(fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`, applicationID, want))
}

// version reads the schema's number and refuses what is not Skein's or newer.
func version(c *conn) (have int, err error) {
	var app, tables int
	_, err = c.one(`SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)`, nil, func(s *sqlite3.Stmt) {
		have, app, tables = s.ColumnInt(0), s.ColumnInt(1), s.ColumnInt(2)
	})
	if err != nil {
		return 0, err
	}
	want, _, err := schema()
	switch {
	case err != nil:
		return 0, err
	case app != applicationID && (tables > 0 || app != 0):
		return 0, &thread.Error{Code: thread.Storage, Op: "open", Message: "the database is not one of Skein's", Hint: "give the path of a Skein database, or of a file that does not exist yet"}
	case have > want:
		return 0, &thread.Error{Code: thread.Storage, Op: "open", Message: fmt.Sprintf("the database has schema %d, but this Skein knows only schemas up to %d", have, want), Hint: "use a newer Skein"}
	}
	return have, nil
}
