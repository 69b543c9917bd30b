package telemetry_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/telemetry"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A turn's spans, as they end. The exporter stands for one that sends them.
func ExampleObserver() {
	ctx := context.Background()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	e := must(skein.Open(ctx, skein.Config{
		Store:     memory.New(memory.Options{}),
		Observers: []skein.Observer{telemetry.Observer(provider, telemetry.Options{})},
	}))
	t := must(e.OpenThread(ctx, "launch", skein.Settings{}))
	must(t.Ask(ctx, "ana", "Ship on the 12th"))
	if err := e.Close(); err != nil {
		panic(err)
	}
	for _, s := range exporter.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// chat echo
	// step
	// invoke_agent north
}
