// A provider of notifications with Go's net/http: HTTP/2, token authentication, as many requests at once as given.
//
// It sends one payload to each device token and records nothing. It prints the notifications per second and its processor
// time per notification in microseconds, as JSON. Any response other than 200 ends it with status 1.
//
// usage: delivery_peer ADDRESS CA-FILE KEY-FILE KEY-ID TEAM TOPIC PAYLOAD-FILE TOKENS-FILE CONCURRENCY
package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The provider token: a JSON Web Token signed with ES256.
func providerToken(key *ecdsa.PrivateKey, keyID, team string) (string, error) {
	encode := base64.RawURLEncoding.EncodeToString
	head, err := json.Marshal(map[string]string{"alg": "ES256", "kid": keyID})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": team, "iat": time.Now().Unix()})
	if err != nil {
		return "", err
	}
	signed := encode(head) + "." + encode(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return "", err
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return signed + "." + encode(signature), nil
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signing, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s holds no key of an elliptic curve", path)
	}
	return signing, nil
}

type sender struct {
	client                        *http.Client
	address, topic, authorization string
	payload                       []byte
}

func (s *sender) send(token string) error {
	request, err := http.NewRequest("POST", "https://"+s.address+"/3/device/"+token, bytes.NewReader(s.payload))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", s.authorization)
	request.Header.Set("apns-topic", s.topic)
	request.Header.Set("apns-push-type", "alert")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return nil
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 10 {
		log.Fatal("usage: delivery_peer ADDRESS CA-FILE KEY-FILE KEY-ID TEAM TOPIC PAYLOAD-FILE TOKENS-FILE CONCURRENCY")
	}
	address, caFile, keyFile, keyID, team := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	topic, payloadFile, tokensFile := os.Args[6], os.Args[7], os.Args[8]
	concurrency, err := strconv.Atoi(os.Args[9])
	if err != nil {
		log.Fatal(err)
	}
	authority, err := os.ReadFile(caFile)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		log.Fatalf("%s holds no certificate", caFile)
	}
	key, err := readKey(keyFile)
	if err != nil {
		log.Fatal(err)
	}
	token, err := providerToken(key, keyID, team)
	if err != nil {
		log.Fatal(err)
	}
	payload, err := os.ReadFile(payloadFile)
	if err != nil {
		log.Fatal(err)
	}
	list, err := os.ReadFile(tokensFile)
	if err != nil {
		log.Fatal(err)
	}
	tokens := strings.Fields(string(list))
	s := &sender{
		client: &http.Client{Transport: &http.Transport{
			ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}},
		address: address, topic: topic, authorization: "bearer " + token, payload: payload}

	// A connection has room for one request until its first token was accepted.
	if err := s.send(tokens[0]); err != nil {
		log.Fatal(err)
	}
	tokens = tokens[1:]
	start, before := time.Now(), processorTime()
	work := make(chan string, concurrency)
	var workers sync.WaitGroup
	for i := 0; i < concurrency; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for token := range work {
				if err := s.send(token); err != nil {
					log.Fatal(err)
				}
			}
		}()
	}
	for _, token := range tokens {
		work <- token
	}
	close(work)
	workers.Wait()
	count := float64(len(tokens))
	result := map[string]float64{
		"rate":          count / time.Since(start).Seconds(),
		"processorTime": float64((processorTime() - before).Microseconds()) / count,
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
