//go:build !unix

package sqlite

import (
	"io/fs"
	"os"
)

// giveTo does nothing where files belong to whoever may write to the folder.
func giveTo(*os.File, fs.FileInfo) error { return nil }

func isReadOnlyDisk(error) bool { return false }

func isFullDisk(error) bool { return false }
