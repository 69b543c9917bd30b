package modeltest

import (
	"bytes"

	"fmt"

	"github.com/skeinhq/skein/thread"
)

// The limits of images, as documented.
const (
	imageBytes     = 5 << 20 // of the base64 text
	imageSide      = 8000
	manyImages     = 20
	manyImagesSide = 2000
	imagesShort    = 100 // of a request to a model with a window of 200,000 tokens
	imagesLong     = 600
)

func (r *anthropicReader) readImage(_ string, o object) (part, block) {
	o.only("type", "source", "cache_control", "transformations")
	source := o.get("source").object("type", "media_type", "data")
	kind := source.get("type").oneOf("base64")
	source.at += "." + kind
	media, text := source.get("media_type").oneOf("image/jpeg", "image/png", "image/gif", "image/webp"), source.get("data").text()
	if r.first != nil {
		return part{}, block{}
	}
	r.images++
	data, ok := unbase64(text)
	switch pic := look(data); {
	case len(text) > imageBytes:
		r.fail(problem{message: fmt.Sprintf("%s: image exceeds 5 MB maximum: %d bytes > %d bytes", source.at, len(text), imageBytes)})
	case !ok:
		r.fail(problem{message: source.at + ".data: invalid base64 data"})
	case pic.kind == "":
		r.fail(problem{message: "Could not process image"})
	case pic.kind != media:
		r.fail(problem{message: fmt.Sprintf("%s.data: The image was specified using the %s media type, but the image appears to be a %s image", source.at, media, pic.kind)})
	case pic.width > imageSide || pic.height > imageSide:
		r.fail(problem{message: fmt.Sprintf("%s.data: At least one of the image dimensions exceed max allowed size: %d pixels", source.at, imageSide)})
	default:
		r.sides = append(r.sides, side{source.at, max(pic.width, pic.height)})
	}
	return part{kind: thread.BlobPart}, imageBlock(media, text)
}

// side is an image's longer side, for the limit that comes with many images.
type side struct {
	at     string
	pixels int
}

func (r *anthropicReader) readDocument(_ string, o object) (part, block) {
	o.only("type", "source", "title", "context", "citations", "cache_control")
	source := o.get("source").object("type", "media_type", "data")
	kind, title, text := source.get("type").oneOf("base64", "text"), o.get("title").optional(), source.get("data").text()
	if r.first != nil {
		return part{}, block{}
	}
	r.files++
	if kind == "text" {
		source.get("media_type").oneOf("text/plain")
		return part{kind: thread.BlobPart}, fileBlock("text/plain", title, text, len(text))
	}
	source.get("media_type").oneOf("application/pdf")
	data, ok := unbase64(text)
	switch {
	case !ok:
		r.fail(problem{message: source.at + ".base64.data: invalid base64 data"})
	case !bytes.HasPrefix(data, []byte("%PDF-")):
		r.fail(problem{message: source.at + ".base64.data: The PDF specified was not valid."})
	}
	return part{kind: thread.BlobPart}, fileBlock("application/pdf", title, text, len(data))
}

// checkImages holds the limits that concern all images of a request.
func (r *anthropicReader) checkImages() {
	most := imagesLong
	if r.rules.Window <= 200_000 {
		most = imagesShort
	}
	if r.images > most {
		r.fail(problem{message: fmt.Sprintf("messages: too many images: %d images > %d maximum", r.images, most)})
	}
	if r.images <= manyImages {
		return
	}
	for _, s := range r.sides {
		if s.pixels > manyImagesSide {
			r.fail(problem{message: fmt.Sprintf("%s.data: At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", s.at, manyImagesSide)})
		}
	}
}
