package openai

import (
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"github.com/skeinhq/skein/model"
)

// pulse tells of every piece of an answer: the SDK keeps the provider's pings to
// itself.
func pulse(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	answer, err := next(r)
	if err != nil || answer.Body == nil {
		return answer, err
	}
	model.Pulse(r.Context())
	answer.Body = model.Heard(r.Context(), answer.Body)
	return answer, nil
}
