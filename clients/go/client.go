// Package vaultclient reads and writes the secrets of a project in the vault, with signed requests (RFC 9421, Ed25519).
//
// Every failure except the end of a context is an [*Error], whose code says what to do.
package vaultclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	userAgent = "vault-client-go"
	firstWait = 200 * time.Millisecond
	// How long the vault may wait before it answers that nothing changed.
	longPoll = 30 * time.Second
)

// Options are the settings of a client. URL, Project and one of PrivateKey and PrivateKeyFile are required.
type Options struct {
	// URL of the vault, for example https://vault.example.org.
	URL     string
	Project string
	// PrivateKey is a JWK JSON string, a PKCS#8 PEM, or the 64 hex digits of the seed.
	PrivateKey string
	// PrivateKeyFile contains one of these. It is read again before each request, so that the client picks up a
	// replaced key.
	PrivateKeyFile string
	// Timeout is the limit for each attempt; 10 s if zero.
	Timeout time.Duration
	// Retries is the number of further attempts after no response, 429, 502, 503 or 504; 3 if zero, none if negative.
	Retries int
	// MaxWait is the longest wait before an attempt; 20 s if zero. A longer Retry-After fails at once.
	MaxWait time.Duration
	// MaxResponseBytes is the limit for the body of a response; 16 MiB if zero. Raise it with the vault's
	// MAX_ENVIRONMENT_BYTES.
	MaxResponseBytes int64
	// Transport sends the requests. By default, it is a copy of http.DefaultTransport, which uses HTTPS_PROXY.
	Transport http.RoundTripper
}

// Format prints the URL and the project, because the other fields contain a secret.
func (o Options) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "vaultclient.Options{URL: %q, Project: %q}", o.URL, o.Project)
}

// OptionsFromEnv reads the variables of the vault command: VAULT_URL, VAULT_PROJECT, VAULT_PRIVATE_KEY or
// VAULT_PRIVATE_KEY_FILE, and optionally VAULT_MAX_RESPONSE_BYTES.
func OptionsFromEnv() (Options, error) {
	options := Options{URL: os.Getenv("VAULT_URL"), Project: os.Getenv("VAULT_PROJECT")}
	options.PrivateKey = os.Getenv("VAULT_PRIVATE_KEY")
	if options.PrivateKey == "" {
		options.PrivateKeyFile = os.Getenv("VAULT_PRIVATE_KEY_FILE")
	}
	var missing []string
	if options.URL == "" {
		missing = append(missing, "VAULT_URL")
	}
	if options.Project == "" {
		missing = append(missing, "VAULT_PROJECT")
	}
	if options.PrivateKey == "" && options.PrivateKeyFile == "" {
		missing = append(missing, "VAULT_PRIVATE_KEY or VAULT_PRIVATE_KEY_FILE")
	}
	if missing != nil {
		return options, invalidConfiguration("missing " + strings.Join(missing, ", ") + "; set these variables")
	}
	if limit := os.Getenv("VAULT_MAX_RESPONSE_BYTES"); limit != "" {
		var err error
		if options.MaxResponseBytes, err = strconv.ParseInt(limit, 10, 64); err != nil || options.MaxResponseBytes < 1 {
			return options, invalidConfiguration("VAULT_MAX_RESPONSE_BYTES is out of range")
		}
	}
	return options, nil
}

// Client reads and writes the secrets of one project. It may be used by several goroutines.
type Client struct {
	origin    origin
	project   string
	readKey   func() (signingKey, error)
	timeout   time.Duration
	retries   int
	maxWait   time.Duration
	maxBytes  int64
	http      http.Client
	now       func() time.Time
	firstWait time.Duration
}

// New creates a client. It sends no request. Errors have the code invalid_configuration.
func New(options Options) (*Client, error) {
	origin, err := readOrigin(options.URL)
	if err != nil {
		return nil, err
	}
	if !projectName.MatchString(options.Project) {
		return nil, invalidConfiguration("the name of the project is not set or not valid")
	}
	if options.Timeout < 0 || options.MaxWait < 0 || options.MaxResponseBytes < 0 {
		return nil, invalidConfiguration("Timeout, MaxWait and MaxResponseBytes must not be negative")
	}
	readKey, err := keyReader(options)
	if err != nil {
		return nil, err
	}
	client := &Client{
		origin: origin, project: options.Project, readKey: readKey, timeout: options.Timeout, retries: options.Retries,
		maxWait: options.MaxWait, maxBytes: options.MaxResponseBytes, now: time.Now, firstWait: firstWait,
	}
	if client.timeout == 0 {
		client.timeout = 10 * time.Second
	}
	if client.retries == 0 {
		client.retries = 3
	}
	if client.maxWait == 0 {
		client.maxWait = 20 * time.Second
	}
	if client.maxBytes == 0 {
		client.maxBytes = 16 << 20
	}
	client.http.Transport = options.Transport
	if options.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DisableCompression = true
		client.http.Transport = transport
	}
	// A signature is valid for one address.
	client.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, nil
}

// keyReader returns a function that returns the current key.
func keyReader(options Options) (func() (signingKey, error), error) {
	file := options.PrivateKeyFile
	if (options.PrivateKey == "") == (file == "") {
		return nil, invalidConfiguration("exactly one of PrivateKey and PrivateKeyFile is required")
	}
	read := func() (signingKey, error) { return readKey(options.PrivateKey) }
	if file != "" {
		read = func() (signingKey, error) {
			text, err := os.ReadFile(file)
			if err != nil {
				return signingKey{}, invalidConfiguration("cannot read the private key: " + err.Error())
			}
			key, err := readKey(string(text))
			if err != nil {
				return signingKey{}, invalidConfiguration(file + " does not contain an Ed25519 private key")
			}
			return key, nil
		}
	}
	key, err := read()
	if err != nil {
		return nil, err
	}
	// A pipe can be read only once.
	if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
		return read, nil
	}
	return func() (signingKey, error) { return key, nil }, nil
}

// PublicKey returns the public half of the key as 64 hex digits, as registered with the vault.
func (c *Client) PublicKey() (string, error) {
	key, err := c.readKey()
	return key.publicKey, err
}

// Fetch returns all secrets of an environment by key.
func (c *Client) Fetch(ctx context.Context, env string) (map[string]string, error) {
	content, err := c.send(ctx, http.MethodGet, "/v1/secrets?env="+escape(env), nil, 0)
	if err != nil {
		return nil, err
	}
	return readSecrets(content)
}

// Get returns the value of one secret, and whether the environment contains the key.
func (c *Client) Get(ctx context.Context, key, env string) (value string, ok bool, err error) {
	secrets, err := c.Fetch(ctx, env)
	value, ok = secrets[key]
	return value, ok, err
}

// ListKeys returns the keys of an environment, sorted. For the vault and its audit log this is a fetch.
func (c *Client) ListKeys(ctx context.Context, env string) ([]string, error) {
	secrets, err := c.Fetch(ctx, env)
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(secrets))
	for key := range secrets {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys, nil
}

// Put creates a secret or overwrites its value.
func (c *Client) Put(ctx context.Context, key, value, env string) error {
	return c.put(ctx, key, value, map[string]any{"key": key, "value": value, "env": env})
}

// PutReferences is Put for a value that contains references such as ${KEY} or ${project.environment.KEY}, which the vault
// resolves when the secret is read.
func (c *Client) PutReferences(ctx context.Context, key, value, env string) error {
	return c.put(ctx, key, value, map[string]any{"key": key, "value": value, "env": env, "references": true})
}

func (c *Client) put(ctx context.Context, key, value string, members map[string]any) error {
	if !utf8.ValidString(key) || !utf8.ValidString(value) {
		// JSON cannot represent it, and encoding/json would replace the bytes.
		return &Error{Code: "invalid_request", Message: "the key or the value is not valid UTF-8; encode it, for example as base64"}
	}
	body, err := json.Marshal(members)
	if err != nil {
		return err
	}
	_, err = c.send(ctx, http.MethodPut, "/v1/secrets", body, 0)
	return err
}

// Delete deletes a secret with all its versions. The code of the error is not_found if the environment does not contain
// the key.
func (c *Client) Delete(ctx context.Context, key, env string) error {
	_, err := c.send(ctx, http.MethodDelete, "/v1/secrets?key="+escape(key)+"&env="+escape(env), nil, 0)
	return err
}

// send sends a request, with retries, and returns the JSON of the response. The vault may wait as long as patience.
func (c *Client) send(ctx context.Context, method, target string, body []byte, patience time.Duration) ([]byte, error) {
	mayBeDone := false
	for tried := 0; ; tried++ {
		content, err := c.attempt(ctx, method, target, body, c.timeout+patience)
		var failure *Error
		if !errors.As(err, &failure) {
			return content, err
		}
		if failure.Code == "not_found" && method == http.MethodDelete && mayBeDone {
			// An earlier attempt deleted it, and its response was lost.
			return []byte(`{"ok":true}`), nil
		}
		// The random part keeps many clients from retrying at once.
		wait := time.Duration(float64(c.firstWait<<min(tried, 20)) * (0.5 + random()/2))
		if failure.RetryAfter > wait {
			wait = failure.RetryAfter
		}
		if tried >= c.retries || wait > c.maxWait || !failure.isRetried() {
			return nil, err
		}
		mayBeDone = mayBeDone || failure.mayBeDone()
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// attempt signs and sends a request once. The error is an *Error, or that of the context.
func (c *Client) attempt(ctx context.Context, method, target string, body []byte, timeout time.Duration) ([]byte, error) {
	key, err := c.readKey()
	if err != nil {
		return nil, err
	}
	var nonce [16]byte
	if _, err := rand.Read(nonce[:]); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	url := c.origin.scheme + "://" + c.origin.authority + target
	request, err := http.NewRequestWithContext(limited, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	signed := toSign{key, c.project, c.origin, method, target, body, c.now().Unix(), hex.EncodeToString(nonce[:])}
	for name, value := range signed.headers() {
		request.Header.Set(name, value)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", userAgent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	content, err := c.exchange(request)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return content, err
}

func (c *Client) exchange(request *http.Request) ([]byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			// It repeats the URL.
			err = wrapped.Err
		}
		return nil, errorOfFailure(c.origin.authority, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return nil, invalidAnswer(response.StatusCode,
			"the vault redirects to another address; redirects are not followed, so use that address as the URL")
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, c.maxBytes+1))
	if err != nil {
		return nil, errorOfFailure(c.origin.authority, err)
	}
	if int64(len(content)) > c.maxBytes {
		return nil, invalidAnswer(response.StatusCode, fmt.Sprintf(
			"the response of the vault is longer than %d bytes; increase MaxResponseBytes to accept it", c.maxBytes))
	}
	if response.StatusCode < 200 || response.StatusCode >= 300 {
		return nil, errorOfAnswer(response, content, c.now())
	}
	if !utf8.Valid(content) || !json.Valid(content) {
		return nil, invalidAnswer(response.StatusCode, "the response is not JSON; check the URL of the vault")
	}
	return content, nil
}

// readSecrets parses a map of strings. Errors of encoding/json are left out because they may quote a value.
func readSecrets(content []byte) (map[string]string, error) {
	var values map[string]*string
	if json.Unmarshal(content, &values) != nil || values == nil {
		return nil, invalidAnswer(0, "the response of the vault is not a map of secrets")
	}
	secrets := make(map[string]string, len(values))
	for key, value := range values {
		if value == nil {
			return nil, invalidAnswer(0, "the response of the vault is not a map of secrets")
		}
		secrets[key] = *value
	}
	return secrets, nil
}

func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// random returns a number from 0 to 1. The global source of math/rand starts equal in all processes before Go 1.20.
func random() float64 {
	var bytes [4]byte
	_, _ = rand.Read(bytes[:])
	return float64(binary.BigEndian.Uint32(bytes[:])) / (1 << 32)
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
