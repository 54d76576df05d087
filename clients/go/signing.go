package vaultclient

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// This file signs requests as docs/signing.md describes: RFC 9421 in one fixed format, with Ed25519 (RFC 8032).

const lifetimeSeconds = 300

var (
	defaultPorts = map[string]int{"http": 80, "https": 443}
	// Narrow on purpose: no character of these can end a header or forge a line of the signature base.
	projectName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	hostName    = regexp.MustCompile(`^([a-z0-9._-]{1,253}|[0-9a-f:.]*:[0-9a-f:.]*)$`)
	hexSeed     = regexp.MustCompile(`^[0-9A-Fa-f]{64}$`)
	base64Key   = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)
)

// origin is the scheme and the host of a vault. The host has a port unless it is the default (RFC 9421 section 2.2.3).
type origin struct{ scheme, authority string }

// readOrigin parses the URL of a vault: a scheme, a host and an optional port.
func readOrigin(text string) (origin, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || defaultPorts[u.Scheme] == 0 {
		// The error of url.Parse quotes the URL, which may contain a password.
		return origin{}, invalidConfiguration("the URL of the vault must begin with http:// or https://")
	}
	if u.User != nil || strings.Trim(u.Path, "/") != "" || len(u.Path) > 1 || u.RawQuery != "" || u.Fragment != "" {
		return origin{}, invalidConfiguration(
			"the URL of the vault must be a scheme, a host and an optional port, without a path or credentials")
	}
	host, port := strings.ToLower(u.Hostname()), defaultPorts[u.Scheme]
	if u.Port() != "" {
		port, err = strconv.Atoi(u.Port())
	}
	if err != nil || port < 1 || port > 65535 || !hostName.MatchString(host) {
		return origin{}, invalidConfiguration(
			"the URL of the vault has no valid host; write international names in their ASCII form (xn--…)")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != defaultPorts[u.Scheme] {
		host += ":" + strconv.Itoa(port)
	}
	return origin{u.Scheme, host}, nil
}

// signingKey signs with a private key that only its function can read: fmt prints the fields of a struct.
type signingKey struct {
	sign func(message []byte) []byte
	// publicKey is in 64 lower-case hex digits.
	publicKey string
}

// readKey reads a JWK (RFC 8037), a PKCS#8 PEM, or the 64 hex digits of a seed.
func readKey(text string) (signingKey, error) {
	seed, stated := readSeed(strings.TrimSpace(text))
	if len(seed) == ed25519.SeedSize {
		private := ed25519.NewKeyFromSeed(seed)
		public := hex.EncodeToString(private.Public().(ed25519.PublicKey))
		if stated == "" || stated == public {
			sign := func(message []byte) []byte { return ed25519.Sign(private, message) }
			return signingKey{sign, public}, nil
		}
	}
	return signingKey{}, invalidConfiguration(
		"the private key is not an Ed25519 key: a JWK with d and x, 64 hex digits or a PKCS#8 PEM")
}

// readSeed returns the seed, and the public key in hex that a JWK states. What is not a key has no seed.
func readSeed(text string) (seed []byte, stated string) {
	if hexSeed.MatchString(text) {
		seed, _ = hex.DecodeString(text)
		return seed, ""
	}
	if block, rest := pem.Decode([]byte(text)); block != nil && len(rest) == 0 {
		parsed, _ := x509.ParsePKCS8PrivateKey(block.Bytes)
		if private, ok := parsed.(ed25519.PrivateKey); ok {
			return private.Seed(), ""
		}
		return nil, ""
	}
	var jwk struct{ Kty, Crv, D, X string }
	if json.Unmarshal([]byte(text), &jwk) != nil || jwk.Kty != "OKP" || jwk.Crv != "Ed25519" {
		return nil, ""
	}
	// 32 bytes, without padding (RFC 7515 section 2).
	if !base64Key.MatchString(jwk.D) || !base64Key.MatchString(jwk.X) {
		return nil, ""
	}
	seed, _ = base64.RawURLEncoding.DecodeString(jwk.D)
	public, _ := base64.RawURLEncoding.DecodeString(jwk.X)
	return seed, hex.EncodeToString(public)
}

// component is a covered component and its value.
type component struct{ name, value string }

// signatureBase is the text to sign: one line per component, then the parameters, without a final newline (RFC 9421
// section 2.5).
func signatureBase(components []component, parameters string) string {
	var base strings.Builder
	for _, each := range components {
		fmt.Fprintf(&base, "%q: %s\n", each.name, each.value)
	}
	return base.String() + `"@signature-params": ` + parameters
}

// toSign is a request to sign.
type toSign struct {
	key     signingKey
	project string
	origin  origin
	// method is in upper case.
	method string
	// target is the path and query exactly as sent, percent-encoded.
	target string
	// body is nil if there is none.
	body []byte
	// created is now, in whole seconds since 1970.
	created int64
	// nonce is 32 hex digits from a secure random source, used only once.
	nonce string
}

// headers returns the headers to send with a request (RFC 9421 section 3.1), with Content-Digest (RFC 9530) for a body.
func (r toSign) headers() map[string]string {
	headers := map[string]string{}
	components := []component{
		{"@method", r.method},
		{"@authority", r.origin.authority},
		{"@target-uri", r.origin.scheme + "://" + r.origin.authority + r.target},
	}
	names := `"@method" "@authority" "@target-uri"`
	if r.body != nil {
		digest := sha256.Sum256(r.body)
		headers["Content-Digest"] = "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":"
		components = append(components, component{"content-digest", headers["Content-Digest"]})
		names += ` "content-digest"`
	}
	agent := r.project + ".agents.vault.local"
	parameters := fmt.Sprintf(`(%s);created=%d;expires=%d;nonce="%s";keyid="%s"`,
		names, r.created, r.created+lifetimeSeconds, r.nonce, agent)
	signature := r.key.sign([]byte(signatureBase(components, parameters)))
	headers["Signature-Input"] = "sig1=" + parameters
	headers["Signature"] = "sig1=:" + base64.StdEncoding.EncodeToString(signature) + ":"
	headers["Signature-Agent"] = fmt.Sprintf(`sig1=%s;pubkey="%s"`, agent, r.key.publicKey)
	return headers
}
