package vaultclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const canary = "canary-value"

// server gives scripted answers and remembers the requests.
type server struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []*http.Request
	bodies   []string
	answers  []http.HandlerFunc
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mutex.Lock()
		s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
		next := dropped
		if len(s.answers) > 0 {
			next, s.answers = s.answers[0], s.answers[1:]
		}
		s.mutex.Unlock()
		next(w, r)
	}))
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s
}

func dropped(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// answer writes a text as it is, and anything else as JSON. Headers are names and values.
func answer(status int, body any, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		if text, ok := body.(string); ok {
			_, _ = io.WriteString(w, text)
			return
		}
		_ = json.NewEncoder(w).Encode(body)
	}
}

// raw writes bytes to the connection and closes it.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(connection, text)
			_ = connection.Close()
		}
	}
}

type object map[string]any

func clientOf(t *testing.T, url string, change ...func(*Options)) *Client {
	t.Helper()
	options := Options{URL: url, Project: "shop", PrivateKey: seed}
	for _, each := range change {
		each(&options)
	}
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	client.firstWait = time.Millisecond
	return client
}

func without(o *Options) { o.Retries = -1 }

// fails returns the error of a call. It and its causes contain no value.
func fails(t *testing.T, err error, code string) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Code != code {
		t.Fatalf("got %v, expected %s", err, code)
	}
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		if strings.Contains(fmt.Sprintf("%+v %#v", cause, cause), canary) {
			t.Errorf("%#v contains a value", cause)
		}
	}
	return failure
}

func fetchFails(t *testing.T, client *Client, code string) *Error {
	t.Helper()
	_, err := client.Fetch(context.Background(), "production")
	return fails(t, err, code)
}

func equal(t *testing.T, got, expected any) {
	t.Helper()
	if !reflect.DeepEqual(got, expected) {
		t.Fatalf("got %v, expected %v", got, expected)
	}
}

var nonce = regexp.MustCompile(`nonce="([0-9a-f]{32})"`)

func TestOddNamesAreEscapedInTheQuery(t *testing.T) {
	s := serve(t, answer(200, object{}), answer(200, object{"ok": true}))
	client := clientOf(t, s.URL)
	if _, err := client.Fetch(context.Background(), "a b/ü&?#+\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := client.Delete(context.Background(), "x=1&y", "\xff"); err != nil {
		t.Fatal(err)
	}
	equal(t, s.requests[0].RequestURI, "/v1/secrets?env=a%20b%2F%C3%BC%26%3F%23%2B%0D%0A")
	equal(t, s.requests[1].RequestURI, "/v1/secrets?key=x%3D1%26y&env=%FF")
}

func TestAWriteCoversItsBody(t *testing.T) {
	s := serve(t, answer(200, object{"ok": true}))
	client := clientOf(t, s.URL)
	if err := client.Put(context.Background(), "A", "grün", "staging"); err != nil {
		t.Fatal(err)
	}
	equal(t, s.bodies, []string{`{"env":"staging","key":"A","value":"grün"}`})
	header := s.requests[0].Header
	if !strings.Contains(header.Get("Signature-Input"), `"content-digest")`) || header.Get("Content-Digest") == "" {
		t.Error(header)
	}
	fails(t, client.Put(context.Background(), "A", canary+"\xff", "staging"), "invalid_request")
}

func TestAnIPv6AddressHasBracketsInHost(t *testing.T) {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	var host string
	s := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host = r.Host
		answer(200, object{})(w, r)
	})}
	go func() { _ = s.Serve(listener) }()
	defer s.Close()
	if _, err := clientOf(t, "http://"+listener.Addr().String()).Fetch(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	equal(t, host, listener.Addr().String())
}

func TestKeysAreListedSorted(t *testing.T) {
	secrets := answer(200, object{"b": "1", "a": ""})
	client := clientOf(t, serve(t, secrets, secrets, secrets).URL)
	keys, err := client.ListKeys(context.Background(), "production")
	equal(t, []any{keys, err}, []any{[]string{"a", "b"}, nil})
	value, ok, err := client.Get(context.Background(), "a", "production")
	equal(t, []any{value, ok, err}, []any{"", true, nil})
	_, ok, err = client.Get(context.Background(), "c", "production")
	equal(t, []any{ok, err}, []any{false, nil})
}

func TestAReplacedKeyFileIsUsedByTheNextRequest(t *testing.T) {
	s := serve(t, answer(200, object{}), answer(200, object{}))
	file := filepath.Join(t.TempDir(), "key")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(seed)
	client := clientOf(t, s.URL, func(o *Options) { o.PrivateKey, o.PrivateKeyFile = "", file })
	_, _ = client.Fetch(context.Background(), "a")
	write(strings.Repeat("11", 32))
	_, _ = client.Fetch(context.Background(), "a")
	if s.requests[0].Header.Get("Signature-Agent") == s.requests[1].Header.Get("Signature-Agent") {
		t.Error("the same key")
	}
	write(canary)
	fetchFails(t, client, "invalid_configuration")
}

func TestTemporaryFailuresAreRetriedWithANewNonce(t *testing.T) {
	for name, failed := range map[string]http.HandlerFunc{
		"dropped":      dropped,
		"cut short":    raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"A\""),
		"limited":      answer(429, object{"error": "rate_limited"}),
		"unavailable":  answer(503, object{"error": "unavailable", "message": "Redis is unavailable."}),
		"bad gateway":  answer(502, "<html>"),
		"proxy repeat": answer(401, object{"error": "replayed_nonce"}),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, failed, failed, answer(200, object{"A": "1"}))
			secrets, err := clientOf(t, s.URL).Fetch(context.Background(), "production")
			equal(t, []any{secrets, err}, []any{map[string]string{"A": "1"}, nil})
			nonces := map[string]bool{}
			for _, request := range s.requests {
				nonces[nonce.FindString(request.Header.Get("Signature-Input"))] = true
			}
			equal(t, len(nonces), 3)
		})
	}
}

func TestOtherRefusalsAreNotRetried(t *testing.T) {
	for code, status := range map[string]int{"invalid_signature": 401, "forbidden": 403, "decryption_failed": 500, "new": 418} {
		s := serve(t, answer(status, object{"error": code, "message": "Text."}))
		equal(t, fetchFails(t, clientOf(t, s.URL), code).Status, status)
		equal(t, len(s.requests), 1)
	}
}

func TestAnErrorHasTheDescriptionOfItsCause(t *testing.T) {
	challenge := `Signature error="invalid_signature", error_description="The cause."`
	s := serve(t, answer(401, object{"error": "invalid_signature"}, "WWW-Authenticate", challenge))
	if failure := fetchFails(t, clientOf(t, s.URL), "invalid_signature"); !strings.HasSuffix(failure.Message, ": The cause.") {
		t.Error(failure.Message)
	}
}

func TestAfterTheLastRetryTheLastErrorIsReturned(t *testing.T) {
	s := serve(t, dropped, dropped, answer(503, object{"error": "unavailable"}))
	client := clientOf(t, s.URL, func(o *Options) { o.Retries = 2 })
	equal(t, fetchFails(t, client, "unavailable").Status, 503)
}

func TestWaitsForRetryAfterOrFailsIfThatIsTooLong(t *testing.T) {
	limited := object{"error": "rate_limited"}
	s := serve(t, answer(429, limited, "Retry-After", "1"), answer(200, object{}))
	client := clientOf(t, s.URL)
	before := time.Now()
	if _, err := client.Fetch(context.Background(), "a"); err != nil || time.Since(before) < 990*time.Millisecond {
		t.Fatal(err, time.Since(before))
	}
	for _, asked := range []string{"60", strings.Repeat("9", 5000), "Fri, 31 Dec 2150 23:59:59 GMT"} {
		s.answers = append(s.answers, answer(429, limited, "Retry-After", asked))
		if failure := fetchFails(t, client, "rate_limited"); failure.RetryAfter < time.Minute {
			t.Error(failure.RetryAfter)
		}
	}
}

func TestADeletionWithALostResponseSucceedsAndOneOfAMissingSecretFails(t *testing.T) {
	missing := answer(404, object{"error": "not_found"})
	client := clientOf(t, serve(t, dropped, missing, missing).URL)
	if err := client.Delete(context.Background(), "A", "production"); err != nil {
		t.Fatal(err)
	}
	fails(t, client.Delete(context.Background(), "A", "production"), "not_found")
}

func TestAWrongClockIsReportedWithTheDifference(t *testing.T) {
	for ahead, text := range map[time.Duration]string{405 * time.Second: "clock is 6m4", -7500 * time.Second: "clock is 2h5m"} {
		date := time.Now().Add(ahead).UTC().Format(http.TimeFormat)
		failure := fetchFails(t, clientOf(t, serve(t, answer(401, object{"error": "expired"}, "Date", date)).URL), "expired")
		difference := failure.ClockDifference + ahead
		if difference < 0 || difference > 3*time.Second || !strings.Contains(failure.Error(), text) {
			t.Error(failure.ClockDifference, failure)
		}
	}
	failure := fetchFails(t, clientOf(t, serve(t, answer(401, object{"error": "expired"})).URL), "expired")
	if strings.Contains(failure.Error(), "ahead") {
		t.Error(failure)
	}
}

func TestAVaultThatIsDownRefusesConnections(t *testing.T) {
	s := serve(t)
	s.Close()
	fetchFails(t, clientOf(t, s.URL, without), "connection_refused")
	fetchFails(t, clientOf(t, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), without), "connection_refused")
	fetchFails(t, clientOf(t, "http://vault.invalid", without), "unknown_host")
}

func TestASlowVaultTimesOut(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	}
	short := func(o *Options) { o.Timeout = 200 * time.Millisecond }
	for _, slow := range []http.HandlerFunc{silent, drip} {
		fetchFails(t, clientOf(t, serve(t, slow).URL, without, short), "timeout")
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_, err := clientOf(t, s.URL).Fetch(ctx, "production")
	equal(t, err, context.DeadlineExceeded)
	<-ended
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = clientOf(t, s.URL).Fetch(canceled, "production")
	equal(t, err, context.Canceled)
}

func TestAHugeResponseIsRefusedWhileItIsRead(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, strings.Repeat(canary, 1000))
		}
	})
	client := clientOf(t, s.URL, func(o *Options) { o.MaxResponseBytes = 100_000 })
	fetchFails(t, client, "invalid_answer")
}

func TestAResponseThatIsNoMapOfSecretsIsRefused(t *testing.T) {
	for _, body := range []any{
		"<html>" + canary, `{"A":"` + canary, "", `{"A":"` + canary + "\xff\"}", []string{canary}, object{"A": 1, "B": canary},
		object{"A": nil, "B": canary}, `"text"`, "null", strings.Repeat("[", 100_000), strings.Repeat("1", 10_000),
	} {
		s := serve(t, answer(200, body))
		fetchFails(t, clientOf(t, s.URL), "invalid_answer")
		equal(t, len(s.requests), 1)
	}
}

func TestAServerThatIsNoVaultIsRecognised(t *testing.T) {
	for _, other := range []http.HandlerFunc{
		answer(404, "<html>not found"), answer(404, object{"error": "Not Found"}), answer(400, object{"error": 7}),
		answer(500, []int{}), raw("SSH-2.0-OpenSSH\r\n\r\n"), raw("HTTP/1.1 " + canary + "\r\n\r\n"),
	} {
		fetchFails(t, clientOf(t, serve(t, other).URL), "invalid_answer")
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := serve(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := serve(t, answer(status, object{}, "Location", elsewhere.URL))
		equal(t, fetchFails(t, clientOf(t, s.URL), "invalid_answer").Status, status)
	}
	equal(t, len(elsewhere.requests), 0)
}

func TestAnUntrustedCertificateAndAServerWithoutTLSAreReported(t *testing.T) {
	plain := serve(t)
	fetchFails(t, clientOf(t, strings.Replace(plain.URL, "http:", "https:", 1), without), "tls_failed")
	secure := httptest.NewTLSServer(answer(200, object{"A": "1"}))
	defer secure.Close()
	secure.Config.ErrorLog = nil
	fetchFails(t, clientOf(t, secure.URL, without), "tls_failed")
	trusting := clientOf(t, secure.URL, func(o *Options) { o.Transport = secure.Client().Transport })
	secrets, err := trusting.Fetch(context.Background(), "production")
	equal(t, []any{secrets, err}, []any{map[string]string{"A": "1"}, nil})
}

func TestSettingsOutOfRangeAreRefused(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.URL = "" },
		func(o *Options) { o.Project = "" },
		func(o *Options) { o.Project = "a\r\nX: y" },
		func(o *Options) { o.Project = "é" },
		func(o *Options) { o.PrivateKey = "" },
		func(o *Options) { o.PrivateKey = canary },
		func(o *Options) { o.PrivateKeyFile = "key" },
		func(o *Options) { o.PrivateKey, o.PrivateKeyFile = "", "/nonexistent/key" },
		func(o *Options) { o.Timeout = -1 },
		func(o *Options) { o.MaxWait = -1 },
		func(o *Options) { o.MaxResponseBytes = -1 },
	} {
		options := Options{URL: "http://h", Project: "shop", PrivateKey: seed}
		change(&options)
		_, err := New(options)
		fails(t, err, "invalid_configuration")
	}
}

func TestSettingsComeFromTheVariablesOfTheCommand(t *testing.T) {
	variables := map[string]string{
		"VAULT_URL": "http://h", "VAULT_PROJECT": "shop", "VAULT_PRIVATE_KEY": seed, "VAULT_PRIVATE_KEY_FILE": "",
		"VAULT_MAX_RESPONSE_BYTES": "1000",
	}
	set := func(t *testing.T, changed, value string) {
		for name, value := range variables {
			t.Setenv(name, value)
		}
		t.Setenv(changed, value)
	}
	set(t, "VAULT_PRIVATE_KEY_FILE", "/nonexistent/key")
	options, err := OptionsFromEnv()
	equal(t, err, nil)
	equal(t, options.MaxResponseBytes, int64(1000))
	if _, err := New(options); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"VAULT_URL", "VAULT_PROJECT", "VAULT_PRIVATE_KEY"} {
		set(t, name, "")
		_, err := OptionsFromEnv()
		if failure := fails(t, err, "invalid_configuration"); !strings.Contains(failure.Message, name) {
			t.Error(failure)
		}
	}
	set(t, "VAULT_MAX_RESPONSE_BYTES", "1e3")
	_, err = OptionsFromEnv()
	fails(t, err, "invalid_configuration")
}

func TestPrintedValuesContainNoSecret(t *testing.T) {
	client := clientOf(t, "http://h")
	options := Options{URL: "http://h", Project: "shop", PrivateKey: canary}
	update := Update{Secrets: map[string]string{"A": canary}, Added: []string{"A"}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		printed := fmt.Sprintf(strings.Repeat(verb+" ", 4), client, *client, options, update)
		for _, secret := range []string{canary, seed, seed[:8], "157 97 177 157", "0x9d, 0x61", fmt.Sprintf("%x", canary)} {
			if strings.Contains(printed, secret) {
				t.Errorf("%s prints %s", verb, secret)
			}
		}
	}
}
