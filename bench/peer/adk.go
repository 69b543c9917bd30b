package peer

import (
	"context"
	"errors"

	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/genai"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The names under which the session is kept.
const (
	adkApp     = "bench"
	adkUser    = "ana"
	adkAgent   = "north"
	adkSession = "main"
)

type adk struct {
	db      *gorm.DB
	service session.Service
	current session.Session
}

func openADK(ctx context.Context, path string, s Sync) (Chat, error) {
	a := &adk{}
	keep := &keepDB{Dialector: sqlite.Open(dsn(path, s)), db: &a.db}
	var err error
	a.service, err = database.NewSessionService(keep, &gorm.Config{PrepareStmt: true, Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	if err := database.AutoMigrate(a.service); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	got, err := a.service.Get(ctx, &session.GetRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession})
	if err == nil {
		a.current = got.Session
		return a, nil
	}
	if !errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, errors.Join(err, a.Close())
	}
	made, err := a.service.Create(ctx, &session.CreateRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession})
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.current = made.Session
	return a, nil
}

// keepDB holds on to the database that the service opens and never closes.
type keepDB struct {
	gorm.Dialector
	db **gorm.DB
}

func (k *keepDB) Initialize(db *gorm.DB) error {
	*k.db = db
	return k.Dialector.Initialize(db)
}

func (a *adk) Say(ctx context.Context, text string) error {
	return a.append(ctx, adkUser, genai.NewContentFromText(text, genai.RoleUser))
}

func (a *adk) Answer(ctx context.Context, text string) error {
	return a.append(ctx, adkAgent, genai.NewContentFromText(text, genai.RoleModel))
}

func (a *adk) append(ctx context.Context, author string, content *genai.Content) error {
	e := session.NewEvent(ctx, "turn")
	e.Author, e.Content = author, content
	return a.service.AppendEvent(ctx, a.current, e)
}

func (a *adk) Load(ctx context.Context) (int, error) {
	got, err := a.service.Get(ctx, &session.GetRequest{AppName: adkApp, UserID: adkUser, SessionID: adkSession})
	if err != nil {
		return 0, err
	}
	a.current = got.Session
	return got.Session.Events().Len(), nil
}

func (a *adk) Close() error {
	db, err := a.db.DB()
	if err != nil {
		return err
	}
	return db.Close()
}
