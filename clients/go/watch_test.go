package vaultclient

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"
)

var errEnough = errors.New("enough")

// watched returns the updates and the codes of errors that a watch reports until it has so many updates.
func watched(t *testing.T, s *server, count int, known map[string]string) (updates []Update, codes []string) {
	t.Helper()
	options := WatchOptions{Known: known, Interval: time.Millisecond}
	err := clientOf(t, s.URL).Watch(context.Background(), "production", options, func(update Update, err error) error {
		var failure *Error
		if errors.As(err, &failure) {
			codes = append(codes, failure.Code)
			return nil
		}
		updates = append(updates, update)
		if len(updates) == count {
			return errEnough
		}
		return nil
	})
	equal(t, err, errEnough)
	return updates, codes
}

func paths(s *server) (found []string) {
	for _, request := range s.requests {
		found = append(found, request.RequestURI)
	}
	return found
}

func changes(version any, values any) http.HandlerFunc {
	body := object{"version": version, "changed": []string{"A"}, "more": 1}
	if values != nil {
		body["values"] = values
	}
	return answer(200, body)
}

func TestAWatchWaitsForChanges(t *testing.T) {
	s := serve(t,
		changes("7-a", object{"A": "1"}), changes("7-a", nil), changes("7-a", nil),
		changes("9 b", object{"A": "1", "B": "2"}),
		// Another version of the same values.
		changes(3, object{"A": "1", "B": "2"}), changes(4, object{"B": "3"}),
		// A response without values.
		changes(5, nil), answer(200, object{}),
	)
	updates, _ := watched(t, s, 4, nil)
	equal(t, updates, []Update{
		{map[string]string{"A": "1"}, []string{"A"}, nil, nil},
		{map[string]string{"A": "1", "B": "2"}, []string{"B"}, nil, nil},
		{map[string]string{"B": "3"}, nil, []string{"B"}, []string{"A"}},
		{map[string]string{}, nil, nil, []string{"B"}},
	})
	path := "/v1/secrets/changes?env=production&values=true"
	expected := []string{path}
	for _, since := range []string{"7-a", "7-a", "7-a", "9%20b", "3", "4"} {
		expected = append(expected, path+"&since="+since)
	}
	equal(t, paths(s), append(expected, "/v1/secrets?env=production"))
}

func TestAWatchPollsAnOlderVault(t *testing.T) {
	for code, status := range map[string]int{"not_found": 404, "method_not_allowed": 405} {
		old := answer(status, object{"error": code})
		one := answer(200, object{"A": "1"})
		s := serve(t, old, one, old, one, old, answer(200, object{"A": "2"}))
		updates, _ := watched(t, s, 2, nil)
		equal(t, updates[1].Changed, []string{"A"})
		equal(t, paths(s)[5], "/v1/secrets?env=production")
	}
}

func TestAWatchDoesNotReportKnownSecrets(t *testing.T) {
	s := serve(t, changes(1, object{"A": "1"}), changes(2, object{}))
	updates, _ := watched(t, s, 1, map[string]string{"A": "1"})
	equal(t, updates[0].Removed, []string{"A"})
}

func TestAWatchReportsAnEmptyEnvironmentFirst(t *testing.T) {
	updates, _ := watched(t, serve(t, changes(1, object{})), 1, nil)
	equal(t, updates[0].Secrets, map[string]string{})
}

func TestAWatchContinuesAfterErrorsAndReportsRepetitionsOnce(t *testing.T) {
	refused := answer(401, object{"error": "invalid_signature"})
	s := serve(t, refused, refused, changes(1, nil), refused, changes(1, object{"A": "1"}),
		answer(200, object{"no": "version"}), answer(200, object{"version": nil}), changes(2, object{"A": "2"}))
	_, codes := watched(t, s, 2, nil)
	equal(t, codes, []string{"invalid_signature", "invalid_answer"})
}

func TestAWatchEndsWithItsContextAndWithTheErrorOfItsHandler(t *testing.T) {
	s := serve(t, changes(1, object{}), func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		answer(403, object{"error": "forbidden"}))
	ctx, cancel := context.WithCancel(context.Background())
	err := clientOf(t, s.URL).Watch(ctx, "production", WatchOptions{}, func(Update, error) error {
		time.AfterFunc(10*time.Millisecond, cancel)
		return nil
	})
	equal(t, err, context.Canceled)
	s.answers = []http.HandlerFunc{answer(403, object{"error": "forbidden"})}
	err = clientOf(t, s.URL).Watch(context.Background(), "a", WatchOptions{}, func(_ Update, err error) error { return err })
	fails(t, err, "forbidden")
}
