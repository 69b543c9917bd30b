package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// hostOf is a host without its port and brackets.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// checkHost refuses names that are not this server's. A page of another site can
// have its own name lead here; its browser then sends that name.
func (s *Server) checkHost(r *http.Request) *Problem {
	host := hostOf(r.Host)
	if isLoopbackName(host) || slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return nil
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil // no name, so nobody's name
	}
	return problem(http.StatusMisdirectedRequest, "this server does not go by that name", "name it among the hosts that the server is started with")
}

// checkOrigin refuses pages of other sites, whatever they ask for, but those of
// the list. ok is the origin that is to be told that it may.
func (s *Server) checkOrigin(r *http.Request) (ok string, refused *Problem) {
	origin := r.Header.Get("Origin")
	foreign := problem(http.StatusForbidden, "pages of that site may not use this server", "name its origin among those that the server is started with")
	if origin != "" {
		if slices.Contains(s.cfg.Origins, origin) {
			return origin, nil
		}
		if u, err := url.Parse(origin); err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return "", foreign
		}
		return "", nil
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // a program, our page, or somebody who typed the address
		return "", nil
	}
	if s.followed(r) {
		return "", nil
	}
	return "", foreign
}

// followed says whether somebody followed another site's link to a page that is
// mounted for everybody: the browser shows it by itself, and the other site sees
// nothing of it.
func (s *Server) followed(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	if r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" || dest != "" && dest != "document" || own(r.URL.Path) {
		return false
	}
	_, pattern := s.mux.Handler(r)
	return slices.ContainsFunc(s.cfg.Mounts, func(m Mount) bool { return m.Pattern == pattern && m.Scope == "" })
}

// checkCookie refuses what a browser sends with its cookie for another site's
// sake: what changes something, or opens a socket that may, must say that our own
// page asks.
func checkCookie(r *http.Request) *Problem {
	if !writes(r.Method) && r.Header.Get("Upgrade") == "" || r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return nil
	}
	return problem(http.StatusForbidden, "a request with the session cookie must say which page it comes from", "send Origin, or use a token in Authorization")
}

// allow tells a browser what a page of a listed origin may do, and answers its
// question before a request.
func allow(w http.ResponseWriter, r *http.Request, origin string) (done bool) {
	h := w.Header()
	h.Add("Vary", "Origin")
	if origin == "" {
		return false
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, PUT, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-None-Match, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
