package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// How many of a skill's files are listed, and how many names are looked at for
// them. All may be read.
const (
	maxListed = 100
	maxLooked = 2000
)

// list names the skill's plain files, sorted, as slash-separated paths from its
// folder. What stands first is listed; hidden files and links are not the
// skill's. The error says what could not be looked at; the rest is given all the
// same.
func (k Skill) list() (names []string, err error) {
	if k.Files == nil {
		return nil, nil
	}
	looked := 0
	walked := fs.WalkDir(k.Files, ".", func(p string, d fs.DirEntry, broken error) error {
		looked++
		switch {
		case broken != nil:
			err = errors.Join(err, broken)
			return nil
		case looked > maxLooked || len(names) > maxListed:
			return fs.SkipAll
		case p != "." && hidden(d.Name()) && d.IsDir():
			return fs.SkipDir
		case d.Type().IsRegular() && !hidden(d.Name()) && p != skillFile:
			names = append(names, p)
		}
		return nil
	})
	if len(names) > maxListed || looked > maxLooked {
		names = append(names[:min(len(names), maxListed)], "… and more")
	}
	return names, errors.Join(err, walked)
}

// hidden says whether a name is none to be shown: a hidden file's, or one that
// would not stand on one line as it is.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") || oneLine(name) != name
}

// plain gives the path of one of the skill's files, from its folder. No part of
// it is a link, so that none leads out of the folder.
func (k Skill) plain(name string) (string, error) {
	clean := path.Clean(name)
	none := fmt.Errorf("the %s skill has no file %q; loading it without file lists its files", k.Name, name)
	if k.Files == nil || clean == "." || clean == skillFile || !fs.ValidPath(clean) {
		return "", none
	}
	parts := strings.Split(clean, "/")
	for i, part := range parts {
		info, err := fs.Lstat(k.Files, path.Join(parts[:i+1]...))
		last := i == len(parts)-1
		switch {
		case err != nil || hidden(part):
			return "", none
		case last && !info.Mode().IsRegular(), !last && !info.IsDir():
			return "", none
		}
	}
	return clean, nil
}
