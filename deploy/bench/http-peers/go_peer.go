// The lookup as one would write it with Go's net/http, the same table in a map.
//
// It checks what Doorstep checks of a key, looks for the longest registered prefix, and gives the answer an ETag. It does
// less: no limits, no identifier rules, no queries of experiences, one host, and no metrics, log or request ID.
//
// usage: go_peer PORT TLS-PORT CERTIFICATE KEY TABLE, with the key that it takes in DOORSTEP_KEY.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"hash/fnv"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
)

type server struct {
	keys   map[[sha256.Size]byte]string
	places map[string][]byte
}

// Each line is a URL, a space, and the members of the answer that depend on the place.
func readTable(path string) (map[string][]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	places := map[string][]byte{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		prefix, members, _ := strings.Cut(lines.Text(), " ")
		places[prefix] = []byte(members)
	}
	return places, lines.Err()
}

// find gives the members of the place with the longest path that the URL begins with, whole components each.
func (s *server) find(invocation *url.URL) []byte {
	prefix := "https://" + invocation.Host + strings.TrimRight(invocation.EscapedPath(), "/")
	for {
		if members, found := s.places[prefix]; found {
			return members
		}
		slash := strings.LastIndexByte(prefix, '/')
		if slash < len("https://") {
			return nil
		}
		prefix = prefix[:slash]
	}
}

func (s *server) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	header := response.Header()
	if request.Method != http.MethodGet || request.URL.Path != "/v1/lookup" {
		http.NotFound(response, request)
		return
	}
	authorization := request.Header.Get("Authorization")
	token := strings.TrimPrefix(authorization, "Bearer ")
	if _, known := s.keys[sha256.Sum256([]byte(token))]; token == authorization || !known {
		header.Set("WWW-Authenticate", "Bearer")
		http.Error(response, "unauthorized", http.StatusUnauthorized)
		return
	}
	text := request.URL.Query().Get("url")
	invocation, err := url.Parse(text)
	if err != nil || invocation.Scheme != "https" {
		http.Error(response, "invalid_url", http.StatusBadRequest)
		return
	}
	members := s.find(invocation)
	if members == nil {
		http.Error(response, "does_not_match", http.StatusNotFound)
		return
	}
	var body bytes.Buffer
	body.Grow(len(members) + len(text) + 16)
	body.WriteByte('{')
	body.Write(members)
	body.WriteString(`,"url":`)
	body.WriteString(strconv.Quote(text))
	body.WriteByte('}')

	hash := fnv.New64a()
	hash.Write(body.Bytes())
	tag := `"` + strconv.FormatUint(hash.Sum64(), 16) + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", "private, max-age=60")
	header.Set("Vary", "Authorization")
	if request.Header.Get("If-None-Match") == tag {
		response.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	response.Write(body.Bytes())
}

func main() {
	port, tlsPort, certificate, key, table := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	places, err := readTable(table)
	if err != nil {
		log.Fatal(err)
	}
	keys := map[[sha256.Size]byte]string{sha256.Sum256([]byte(os.Getenv("DOORSTEP_KEY"))): "places"}
	handler := &server{keys, places}
	go func() { log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+tlsPort, certificate, key, handler)) }()
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, handler))
}
