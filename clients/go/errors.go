package vaultclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Error is a request that the vault refused, or that failed. Its message never contains the private key or the value of
// a secret.
type Error struct {
	// Code is a code of the vault's error table, or one of this client: unknown_host, connection_refused, tls_failed,
	// unreachable, timeout, invalid_answer and invalid_configuration.
	Code string
	// Message is for the operator of the application.
	Message string
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// RetryAfter is the time from Retry-After.
	RetryAfter time.Duration
	// ClockDifference is how far this machine's clock is ahead of the vault's, if the code is expired. It is negative
	// if the clock is behind.
	ClockDifference time.Duration

	cause error
}

func (e *Error) Error() string { return "vault: " + e.Message }

// Unwrap returns the error of the connection, if there was no response.
func (e *Error) Unwrap() error { return e.cause }

func invalidConfiguration(message string) *Error {
	return &Error{Code: "invalid_configuration", Message: message}
}

func invalidAnswer(status int, message string) *Error {
	return &Error{Code: "invalid_answer", Message: message, Status: status}
}

// remedies are for the codes that the vault sends without a message.
var remedies = map[string]string{
	"missing_signature": "the vault received no signature; check whether a proxy removes the Signature headers",
	"unknown_project":   "the vault has no project with this name; ask an administrator to register it",
	"invalid_signature": "the vault refused the signature; the private key does not belong to a registered public key, or it was replaced, revoked or expired",
	"expired":           "this machine's clock and the vault's differ by more than five minutes",
	"replayed_nonce":    "the vault has received this request before",
	"rate_limited":      "too many requests or failures from this address, or writes of this project; try again later",
}

const (
	maxQuoted     = 500
	plausibleSkew = time.Minute
	maxRetryAfter = 999_999_999
)

var (
	errorCode = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	digits    = regexp.MustCompile(`^[0-9]+$`)
	// description is what the vault adds to invalid_signature.
	description = regexp.MustCompile(`\berror_description="([^"\\]*)"`)
)

// errorOfAnswer creates the error for an unsuccessful response.
func errorOfAnswer(response *http.Response, content []byte, now time.Time) *Error {
	var body struct{ Error, Message string }
	err := &Error{Status: response.StatusCode, RetryAfter: retryAfter(response.Header.Get("Retry-After"), now)}
	if json.Unmarshal(content, &body) != nil || !errorCode.MatchString(body.Error) {
		err.Code = "invalid_answer"
		err.Message = fmt.Sprintf("the server returned %d with an unexpected body; check the URL of the vault", err.Status)
		return err
	}
	err.Code, err.Message = body.Error, remedies[body.Error]
	if date, failed := http.ParseTime(response.Header.Get("Date")); failed == nil && err.Code == "expired" {
		err.ClockDifference = now.Sub(date)
	}
	cause := description.FindStringSubmatch(response.Header.Get("WWW-Authenticate"))
	switch {
	case cause != nil:
		err.Message = fmt.Sprintf("the vault refused the signature: %.*s", maxQuoted, cause[1])
	case err.ClockDifference >= plausibleSkew:
		err.Message = clockMessage(err.ClockDifference, "ahead of")
	case err.ClockDifference <= -plausibleSkew:
		err.Message = clockMessage(-err.ClockDifference, "behind")
	case err.Code == "rate_limited" && err.RetryAfter > 0:
		err.Message = strings.Replace(err.Message, "later", "in "+err.RetryAfter.Round(time.Second).String(), 1)
	case err.Message == "":
		err.Message = fmt.Sprintf("the vault returned %d %.*s", err.Status, maxQuoted, body.Error)
		if body.Message != "" {
			err.Message += fmt.Sprintf(": %.*s", maxQuoted, body.Message)
		}
	}
	return err
}

func clockMessage(difference time.Duration, side string) string {
	return fmt.Sprintf("this machine's clock is %s %s the vault's; signatures are accepted within five minutes",
		difference.Round(time.Second), side)
}

// retryAfter reads seconds or a date (RFC 9110 section 10.2.3).
func retryAfter(text string, now time.Time) time.Duration {
	if digits.MatchString(text) {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > maxRetryAfter {
			seconds = maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil && date.After(now) {
		return date.Sub(now)
	}
	return 0
}

// errorOfFailure creates the error for a request without a response.
func errorOfFailure(authority string, failure error) *Error {
	text := failure.Error()
	if strings.Contains(text, "malformed ") {
		// The cause quotes the response.
		return invalidAnswer(0, "the server does not speak HTTP; check the URL of the vault")
	}
	code, what := "unreachable", "cannot be reached"
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(failure, context.DeadlineExceeded), errors.As(failure, &timeout) && timeout.Timeout():
		code, what = "timeout", "did not respond in time"
	case errors.As(failure, &name):
		code, what = "unknown_host", "has a name that does not resolve"
	case errors.Is(failure, syscall.ECONNREFUSED):
		code, what = "connection_refused", "refuses connections; check that it is running"
	case strings.Contains(text, "tls: "), strings.Contains(text, "x509: "), strings.Contains(text, "to HTTPS client"):
		code, what = "tls_failed", "has no trusted TLS certificate, or does not use TLS"
	}
	return &Error{Code: code, Message: fmt.Sprintf("the vault at %s %s", authority, what), cause: failure}
}

// isRetried reports whether a retry may help. After replayed_nonce it may, because a proxy repeated the request.
func (e *Error) isRetried() bool {
	switch e.Code {
	case "unknown_host", "connection_refused", "unreachable", "timeout", "replayed_nonce":
		return true
	}
	switch e.Status {
	case 429, 502, 503, 504:
		return true
	}
	return false
}

// mayBeDone reports whether the vault may have carried out the request, or a proxy's copy of it.
func (e *Error) mayBeDone() bool {
	switch e.Code {
	case "unknown_host", "connection_refused", "rate_limited":
		return false
	}
	return e.Status == 0 || e.Status >= 500 || e.Code == "replayed_nonce"
}
