package vaultclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"time"
)

const (
	// Limits the requests to a vault that always answers at once. Changes in between are not lost.
	watchPause     = time.Second
	firstWatchWait = time.Second
	// A refused key stays refused until an administrator acts, and attempts count towards the limit of the address.
	maxRefusedWait = 5 * time.Minute
	// The longest wait that a vault, or a proxy before it, can ask for.
	maxWatchWait = time.Hour
)

// Update is the secrets of an environment after a change, and the keys that differ, sorted.
type Update struct {
	Secrets                 map[string]string
	Added, Changed, Removed []string
}

// Format prints the keys that differ, without values.
func (u Update) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "vaultclient.Update{Added: %q, Changed: %q, Removed: %q}", u.Added, u.Changed, u.Removed)
}

// WatchOptions are optional settings of a watch.
type WatchOptions struct {
	// Known are the secrets to compare the first read with. If they are equal, it is not reported. By default, the
	// first read is reported, with all keys as added.
	Known map[string]string
	// Interval is the longest wait after errors other than refusals, and the time between reads of an older vault, which
	// cannot report changes; 30 s if zero.
	Interval time.Duration
}

// Watch calls handle with the present secrets, and then after each change, until the context ends or handle returns an
// error, which Watch returns.
//
// After a failed read, handle is called with the error, without repetitions. If it returns nil, watching continues.
// While the vault refuses the key (401 or 403), the waits double, up to five minutes.
func (c *Client) Watch(ctx context.Context, env string, options WatchOptions, handle func(Update, error) error) error {
	interval := options.Interval
	if interval == 0 {
		interval = 30 * time.Second
	}
	if interval < 0 {
		return invalidConfiguration("Interval must not be negative")
	}
	known, isKnown := options.Known, options.Known != nil
	var version, reported string
	var wait time.Duration
	failures, refusals := 0, 0
	for {
		// The random part keeps the watchers of a vault that restarts from coming back at once.
		if err := sleep(ctx, time.Duration(float64(wait)*(0.8+random()*0.4))); err != nil {
			return err
		}
		found, err := c.changes(ctx, env, version)
		var failure *Error
		if errors.As(err, &failure) {
			failures++
			if failure.Status == http.StatusUnauthorized || failure.Status == http.StatusForbidden {
				refusals++
			} else {
				refusals = 0
			}
			wait = waitAfter(failure, interval, failures, refusals)
			if failure.Code != reported {
				reported = failure.Code
				if err := handle(Update{}, err); err != nil {
					return err
				}
			}
			continue
		}
		if err != nil {
			return err
		}
		failures, refusals, reported, version = 0, 0, "", found.version
		wait = minDuration(watchPause, interval)
		if version == "" {
			wait = interval
		}
		if found.secrets == nil {
			continue
		}
		update := updateOf(known, found.secrets)
		if isKnown && len(update.Added)+len(update.Changed)+len(update.Removed) == 0 {
			continue
		}
		known, isKnown = found.secrets, true
		if err := handle(update, nil); err != nil {
			return err
		}
	}
}

// state is an environment at a version. The vault chooses what a version looks like.
type state struct {
	// version is empty if the vault cannot report changes.
	version string
	// secrets is nil if nothing changed since the given version.
	secrets map[string]string
}

// changes reads an environment as soon as it has another version than since, or after about 30 s (long poll).
func (c *Client) changes(ctx context.Context, env, since string) (state, error) {
	target := "/v1/secrets/changes?env=" + escape(env) + "&values=true"
	if since != "" {
		target += "&since=" + escape(since)
	}
	content, err := c.send(ctx, http.MethodGet, target, nil, longPoll)
	var failure *Error
	if errors.As(err, &failure) && (failure.Code == "not_found" || failure.Code == "method_not_allowed") {
		// A vault without this endpoint takes the path for that of a secret, which cannot be read.
		secrets, err := c.Fetch(ctx, env)
		return state{"", secrets}, err
	}
	if err != nil {
		return state{}, err
	}
	var body struct{ Version, Values json.RawMessage }
	var version string
	if json.Unmarshal(content, &body) == nil && json.Unmarshal(body.Version, &version) != nil {
		// A number is the text that stands there.
		var number json.Number
		_ = json.Unmarshal(body.Version, &number)
		version = number.String()
	}
	if version == "" {
		return state{}, invalidAnswer(0, "the response of the vault has no version")
	}
	if body.Values != nil {
		secrets, err := readSecrets(body.Values)
		return state{version, secrets}, err
	}
	if version == since {
		return state{version, nil}, nil
	}
	secrets, err := c.Fetch(ctx, env)
	return state{version, secrets}, err
}

func waitAfter(failure *Error, interval time.Duration, failures, refusals int) time.Duration {
	wait := minDuration(firstWatchWait<<min(failures-1, 20), interval)
	if refusals > 0 {
		wait = minDuration(interval<<min(refusals, 10), maxRefusedWait)
		if wait < interval {
			wait = interval
		}
	}
	if asked := minDuration(failure.RetryAfter, maxWatchWait); asked > wait {
		wait = asked
	}
	return wait
}

func updateOf(before, after map[string]string) Update {
	update := Update{Secrets: make(map[string]string, len(after))}
	for key, value := range after {
		update.Secrets[key] = value
		if old, ok := before[key]; !ok {
			update.Added = append(update.Added, key)
		} else if old != value {
			update.Changed = append(update.Changed, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			update.Removed = append(update.Removed, key)
		}
	}
	for _, keys := range [][]string{update.Added, update.Changed, update.Removed} {
		sort.Strings(keys)
	}
	return update
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func minDuration(a, b time.Duration) time.Duration {
	if a < b {
		return a
	}
	return b
}
