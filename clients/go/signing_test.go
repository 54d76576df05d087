package vaultclient

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	seed   = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
	public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
)

// vectors returns the blocks of headers in docs/signing.md.
func vectors(t *testing.T) []map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/signing.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []map[string]string
	for _, block := range regexp.MustCompile("(?s)```http\n(.*?)\n```").FindAllSubmatch(page, -1) {
		headers := map[string]string{}
		for _, line := range strings.Split(string(block[1]), "\n") {
			name, value, _ := strings.Cut(line, ": ")
			headers[name] = value
		}
		found = append(found, headers)
	}
	return found
}

func vectorRequest(t *testing.T, url, method, target string, body []byte) toSign {
	t.Helper()
	key, err := readKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	origin, err := readOrigin(url)
	if err != nil {
		t.Fatal(err)
	}
	return toSign{key, "shop", origin, method, target, body, 1_700_000_000, "000102030405060708090a0b0c0d0e0f"}
}

func TestRequestsHaveTheHeadersOfTheVectors(t *testing.T) {
	expected := vectors(t)
	body := []byte(`{"key":"A","value":"1","env":"production"}`)
	for i, request := range []toSign{
		vectorRequest(t, "https://vault.example.org", "GET", "/v1/secrets?env=production", nil),
		vectorRequest(t, "http://127.0.0.1:4200", "PUT", "/v1/secrets", body),
	} {
		if headers := request.headers(); fmt.Sprint(headers) != fmt.Sprint(expected[i]) {
			t.Errorf("got %v, expected %v", headers, expected[i])
		}
	}
}

func TestTheSignatureBaseHasALinePerComponentAndNoFinalNewline(t *testing.T) {
	vector := vectors(t)[1]
	base := signatureBase([]component{
		{"@method", "PUT"},
		{"@authority", "127.0.0.1:4200"},
		{"@target-uri", "http://127.0.0.1:4200/v1/secrets"},
		{"content-digest", vector["Content-Digest"]},
	}, strings.TrimPrefix(vector["Signature-Input"], "sig1="))
	if base != `"@method": PUT
"@authority": 127.0.0.1:4200
"@target-uri": http://127.0.0.1:4200/v1/secrets
"content-digest": sha-256=:UtwKlSMH/mMIj1fZIrGLQzPitxItwTXv9BYF9vMbTbg=:
"@signature-params": ("@method" "@authority" "@target-uri" "content-digest");created=1700000000;expires=1700000300;nonce="000102030405060708090a0b0c0d0e0f";keyid="shop.agents.vault.local"` {
		t.Error(base)
	}
	key, _ := readKey(seed)
	if signature := base64.StdEncoding.EncodeToString(key.sign([]byte(base))); "sig1=:"+signature+":" != vector["Signature"] {
		t.Error(signature)
	}
}

func unhex(text string) []byte {
	bytes, _ := hex.DecodeString(text)
	return bytes
}

// jwk returns the key of the vectors with another member.
func jwk(name string, value any) string {
	members := map[string]any{
		"kty": "OKP", "crv": "Ed25519",
		"d": base64.RawURLEncoding.EncodeToString(unhex(seed)), "x": base64.RawURLEncoding.EncodeToString(unhex(public)),
	}
	members[name] = value
	text, _ := json.Marshal(members)
	return string(text)
}

func TestAJWKAPEMAndASeedAreTheSameKey(t *testing.T) {
	pem := func(der string) string {
		return "-----BEGIN PRIVATE KEY-----\n" + base64.StdEncoding.EncodeToString(unhex(der)) + "\n-----END PRIVATE KEY-----\n"
	}
	for _, text := range []string{
		jwk("kid", "a"), "  " + jwk("kid", "a") + "\n", strings.ToUpper(seed) + "\n",
		pem("302e020100300506032b657004220420" + seed),
		pem("3051020101300506032b657004220420" + seed + "812100" + public),
	} {
		if key, err := readKey(text); err != nil || key.publicKey != public {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAnythingElseIsNoKeyAndIsNotRepeated(t *testing.T) {
	other, _ := readKey(strings.Repeat("11", 32))
	for _, text := range []string{
		"", "{", "null", "[1]", seed[1:], seed + "00", "-----BEGIN PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----",
		jwk("kty", "EC"), jwk("crv", "X25519"), jwk("d", nil), jwk("d", 7), jwk("d", "c2hvcnQ"), jwk("x", nil),
		jwk("x", base64.RawURLEncoding.EncodeToString(unhex(other.publicKey))),
		jwk("d", base64.URLEncoding.EncodeToString(unhex(seed))),
	} {
		var err *Error
		_, failed := readKey(text)
		if !errors.As(failed, &err) || err.Code != "invalid_configuration" || strings.Contains(err.Message, seed[:8]) {
			t.Errorf("%s: %v", text, failed)
		}
	}
}

func TestTheAuthorityIsInLowerCaseWithoutTheDefaultPort(t *testing.T) {
	for url, authority := range map[string]string{
		"https://Vault.Example.ORG":      "vault.example.org",
		"HTTPS://vault.example.org:443/": "vault.example.org",
		"https://vault.example.org:80":   "vault.example.org:80",
		"http://vault.example.org:80":    "vault.example.org",
		"http://vault.example.org:443":   "vault.example.org:443",
		"http://127.0.0.1:4200/":         "127.0.0.1:4200",
		" http://[::1]:4200":             "[::1]:4200",
		"http://[2001:DB8::1]":           "[2001:db8::1]",
		"https://[::1]:443":              "[::1]",
	} {
		if origin, err := readOrigin(url); err != nil || origin.authority != authority {
			t.Errorf("%s: %v, %v", url, origin, err)
		}
	}
}

func TestOtherURLsAreRefused(t *testing.T) {
	for _, url := range []string{
		"", "localhost:4200", "ftp://h", "http://", "http://h:0", "http://h:65536", "http://h:x", "http://[::1",
		"http://u:p@h", "http://@h", "http://h/path", "http://h//", "http://h?a", "http://h#a", "http://a b", "http://a\r\nb",
		"http://münchen.example", "http://[fe80::1%25eth0]", "http://h/v1/../",
	} {
		var err *Error
		if _, failed := readOrigin(url); !errors.As(failed, &err) || err.Code != "invalid_configuration" {
			t.Errorf("%s: %v", url, failed)
		}
	}
}
