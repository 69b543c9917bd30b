package server

import (
	"context"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/view"
)

// pageAnswer is a page of messages. It may be asked for again with its ETag.
type pageAnswer struct {
	Status int
	ETag   string `header:"ETag"`
	Cache  string `header:"Cache-Control"`
	Body   *view.Page
}

func (s *Server) listEntries(ctx context.Context, in *struct {
	InThread
	Before   int64  `query:"before" minimum:"0" doc:"Messages with a smaller seq."`
	After    int64  `query:"after" minimum:"0" doc:"Messages with a larger seq."`
	Limit    int    `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"At most so many, and at most 4 MB."`
	Order    string `query:"order" enum:"asc,desc" default:"desc" doc:"desc: the newest first."`
	Cursor   string `query:"cursor" maxLength:"600" doc:"The next of the page before."`
	Inactive bool   `query:"inactive" doc:"Undone messages too; each says that it is undone."`
	Conditional
}) (*pageAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	q := skein.PageQuery{Before: in.Before, After: in.After, Limit: in.Limit, Cursor: in.Cursor, Inactive: in.Inactive, Viewer: by(ctx).name}
	if in.Order == "asc" {
		q.Order = skein.OldestFirst
	}
	page, err := t.Page(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &pageAnswer{Status: 200, ETag: `"` + page.Tag + `"`, Cache: "private, no-cache", Body: &page}
	if in.holds(out.ETag) {
		out.Status, out.Body = 304, nil
	}
	return out, nil
}
