package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/telemetry"
)

// spans sends traces where the environment says.
type spans struct {
	observer skein.Observer
	provider *sdk.TracerProvider
	told     *trouble
}

// traces starts what sends traces, over OTLP/HTTP, by the variables that
// OpenTelemetry has for it; nil where they do not ask for any.
func (a *app) traces() (*spans, error) {
	told := &trouble{app: a, what: "traces could not be sent"}
	switch name := os.Getenv("OTEL_TRACES_EXPORTER"); {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || name == "none":
		return nil, nil
	case name == "" && os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" && os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") == "":
		return nil, nil
	case name != "" && name != "otlp":
		told.note(fmt.Errorf("OTEL_TRACES_EXPORTER is %q, not otlp or none", name))
		told.end()
		return nil, nil
	}
	models, err := a.catalog()
	if err != nil {
		return nil, err
	}
	// The library's own words would stand in the middle of the talk.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(told.note))
	otel.SetLogger(funcr.New(func(_, said string) { told.note(errors.New(said)) }, funcr.Options{}))
	exporter, err := otlptracehttp.New(a.ctx)
	if err != nil {
		told.note(err)
		told.end()
		return nil, nil
	}
	about, err := resource.New(a.ctx,
		resource.WithAttributes(semconv.ServiceName("skein"), semconv.ServiceVersion(Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	told.note(err)
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	name := func(model string) string {
		p, err := models.asked(model)
		if err != nil {
			return "" // a model that nobody is asked for, such as echo
		}
		return p.name
	}
	return &spans{telemetry.Observer(provider, telemetry.Options{Provider: name}), provider, told}, nil
}

// close sends what is not sent yet.
func (s *spans) close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushFor)
	defer cancel()
	s.told.note(s.provider.Shutdown(ctx))
	s.told.end()
}
