//go:build vault

// Run by services/vault/tests/clients.test.ts, which starts a vault and sets the variables of the vault command.

package vaultclient

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func vaultClient(t *testing.T) *Client {
	t.Helper()
	options, err := OptionsFromEnv()
	if err != nil {
		t.Fatal(err)
	}
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestSecretsComeBackAsTheyWereStored(t *testing.T) {
	ctx, client := context.Background(), vaultClient(t)
	secrets := map[string]string{
		"PLAIN": "1", "a b/ü&?#+%=": "line\nline\r\n\x00\t\"\\", "__proto__": "", "LONG": strings.Repeat("𝄞", 16*1024), "<&>": "\u2028",
	}
	for key, value := range secrets {
		equal(t, client.Put(ctx, key, value, "go.odd_-1"), nil)
	}
	fetched, err := client.Fetch(ctx, "go.odd_-1")
	equal(t, []any{fetched, err}, []any{secrets, nil})
	for key := range secrets {
		equal(t, client.Delete(ctx, key, "go.odd_-1"), nil)
		fails(t, client.Delete(ctx, key, "go.odd_-1"), "not_found")
	}
	keys, err := client.ListKeys(ctx, "go.odd_-1")
	equal(t, []any{keys, err}, []any{[]string{}, nil})
}

func TestReferencesAreResolved(t *testing.T) {
	ctx, client := context.Background(), vaultClient(t)
	equal(t, client.Put(ctx, "HOST", "example.org", "go-refers"), nil)
	equal(t, client.PutReferences(ctx, "URL", "https://${HOST}", "go-refers"), nil)
	fetched, err := client.Fetch(ctx, "go-refers")
	equal(t, []any{fetched, err}, []any{map[string]string{"HOST": "example.org", "URL": "https://example.org"}, nil})
	fails(t, client.PutReferences(ctx, "A", "${NONE}", "go-refers"), "unresolved_reference")
}

func TestTheVaultRefusesWhatItDoesNotStore(t *testing.T) {
	ctx, client := context.Background(), vaultClient(t)
	for _, env := range []string{"", "a b", "ü", "a&b=c", strings.Repeat("a", 65)} {
		_, err := client.Fetch(ctx, env)
		fails(t, err, "invalid_request")
	}
	fails(t, client.Put(ctx, "a\nb", "", "go"), "invalid_request")
	fails(t, client.Put(ctx, "A", strings.Repeat("a", 65*1024), "go"), "invalid_request")
	for _, megabytes := range []int{1, 20} {
		fails(t, client.Put(ctx, "A", strings.Repeat("a", megabytes<<20), "go"), "payload_too_large")
	}
}

func TestTheVaultRefusesAnotherKeyProjectAndTime(t *testing.T) {
	ctx, options := context.Background(), func() Options { o, _ := OptionsFromEnv(); return o }
	other := options()
	other.PrivateKey, other.PrivateKeyFile = seed, ""
	client, _ := New(other)
	_, err := client.Fetch(ctx, "go")
	fails(t, err, "invalid_signature")
	other = options()
	other.Project = "nobody"
	client, _ = New(other)
	_, err = client.Fetch(ctx, "go")
	fails(t, err, "unknown_project")
	client = vaultClient(t)
	for _, ahead := range []time.Duration{-time.Hour, time.Hour} {
		client.now = func() time.Time { return time.Now().Add(ahead) }
		_, err = client.Fetch(ctx, "go")
		if difference := fails(t, err, "expired").ClockDifference - ahead; difference.Abs() > time.Minute {
			t.Error(difference)
		}
	}
}

func TestManyGoroutinesShareAClient(t *testing.T) {
	client := vaultClient(t)
	var group sync.WaitGroup
	for i := 0; i < 20; i++ {
		group.Add(1)
		go func(env string) {
			defer group.Done()
			if err := client.Put(context.Background(), "A", env, env); err != nil {
				t.Error(err)
			}
			if value, _, err := client.Get(context.Background(), "A", env); err != nil || value != env {
				t.Error(value, err)
			}
		}(fmt.Sprintf("go-%d", i))
	}
	group.Wait()
}

func TestAWatchReportsTheChangesOfOthers(t *testing.T) {
	ctx, client := context.Background(), vaultClient(t)
	steps := []func() error{
		func() error { return client.Put(ctx, "A", "1", "go-watch") },
		func() error { return client.Put(ctx, "A", "2", "go-watch") },
		func() error { return client.Delete(ctx, "A", "go-watch") },
	}
	var updates []Update
	err := client.Watch(ctx, "go-watch", WatchOptions{Interval: 50 * time.Millisecond}, func(update Update, err error) error {
		updates = append(updates, update)
		if err != nil {
			return err
		}
		if len(updates) > len(steps) {
			return errEnough
		}
		return steps[len(updates)-1]()
	})
	equal(t, err, errEnough)
	equal(t, updates, []Update{
		{map[string]string{}, nil, nil, nil},
		{map[string]string{"A": "1"}, []string{"A"}, nil, nil},
		{map[string]string{"A": "2"}, nil, []string{"A"}, nil},
		{map[string]string{}, nil, nil, []string{"A"}},
	})
}
