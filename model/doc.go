// Package model is the port to whatever answers: the request a prompt becomes,
// the events an answer streams, and the interface that every provider has.
//
// A request is an ordered value: the same prompt gives the same bytes. Cache
// marks stand beside the messages, so that two requests can be compared without
// them.
package model
