#!/bin/sh
# Starts Redis with a configuration that it reads from standard input: so the password is neither in a file nor on a
# command line. Nonces, rate limits, sessions and swarms are stored here: nothing may be evicted, and
# every write goes to the append-only file.
set -eu
: "${REDISCLI_AUTH:?is not set}" "${REDIS_MAX_MEMORY:?is not set}"
exec docker-entrypoint.sh redis-server - <<CONFIGURATION
requirepass $REDISCLI_AUTH
appendonly yes
appendfsync everysec
save ""
maxmemory $REDIS_MAX_MEMORY
maxmemory-policy noeviction
CONFIGURATION
