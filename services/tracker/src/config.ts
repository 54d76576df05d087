import { trustedProxies } from '@vault-and-tracker/service-kit/client-address'
import { commonEnv, flag, integer, parseEnv, port } from '@vault-and-tracker/service-kit/env'
import { z } from 'zod'

function clientPrefixes(): z.ZodType<readonly string[]> {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine(
      (parts) => parts.every((part) => /^[\x21-\x7e]{1,20}$/.test(part)),
      'must be a comma-separated list of prefixes of peer ids, 1 to 20 printable characters each',
    )
    .default([])
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}

const schema = z.object({
  ...commonEnv,
  PORT: port(6969),
  /** Where users reach the service; the base of announce URLs, and the origin that may write with a cookie. */
  PUBLIC_URL: z
    .string()
    .refine(isBaseUrl, 'must be a URL that starts with http:// or https://, without user, query and fragment')
    // libtorrent derives the scrape address from the first "announce" of the whole URL, the host included.
    .refine((text) => !/announce/i.test(text), 'must not contain the word announce')
    .transform((text) => text.replace(/\/+$/, '')),
  TRACKER_MODE: z.enum(['private', 'open'], 'must be private or open').default('private'),
  ALLOW_PRIVATE_PEERS: flag(false),
  ALLOW_IP_PARAM: flag(false),
  ANNOUNCE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 200 }),
  /** Scrapes a minute, and announces and scrapes with a passkey that nobody has, both by address. */
  SCRAPE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 6_000 }),
  UNKNOWN_PASSKEY_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 1_000 }),
  /** Whether a scrape without info hashes is answered, in open mode. */
  FULL_SCRAPE: flag(false),
  ANNOUNCE_INTERVAL: integer({ min: 10, max: 86_400, fallback: 1_800 }),
  MIN_ANNOUNCE_INTERVAL: integer({ min: 1, max: 86_400, fallback: 900 }),
  MAX_CLIENTS_PER_TORRENT: integer({ min: 1, max: 1_000, fallback: 5 }),
  /** Prefixes of peer ids, such as `-TR3,-qB4`: who may announce, all clients when empty; and who may not. */
  CLIENTS_ALLOWED: clientPrefixes(),
  CLIENTS_DENIED: clientPrefixes(),
  /** Where swarms and accounting are, unless in REDIS_URL; several nodes, comma-separated, are a Redis Cluster. */
  SWARM_REDIS_URL: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine(
      (parts) => parts.every((part) => URL.canParse(part) && /^rediss?:$/.test(new URL(part).protocol)),
      'must be one or more comma-separated URLs that start with redis:// or rediss://',
    )
    .default([]),
  /** Announces are read before node:http, which would answer them alike and more slowly. */
  ANNOUNCE_FRONT: flag(true),
  WEBSOCKET: flag(true),
  /** Origins of pages that may connect, such as `https://example.org`; any where empty. */
  WS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine(
      (parts) => parts.every((part) => URL.canParse(part) && new URL(part).origin === part.toLowerCase()),
      'must be comma-separated origins, such as https://example.org',
    )
    .transform((parts) => parts.map((part) => part.toLowerCase()))
    .default([]),
  WS_SOCKETS_PER_ADDRESS: integer({ min: 1, max: 1_000_000, fallback: 100 }),
  WS_TORRENTS_PER_SOCKET: integer({ min: 1, max: 100_000, fallback: 200 }),
  WS_MESSAGES_PER_SECOND: integer({ min: 1, max: 1_000_000, fallback: 20 }),
  /** Connections to Postgres for searches, besides those of DATABASE_POOL_SIZE. */
  SEARCH_POOL_SIZE: integer({ min: 1, max: 100, fallback: 2 }),
  TRACKER_WORKERS: integer({ min: 1, max: 256, fallback: 1 }),
  /** What the site is called in its pages and in Torznab. */
  SITE_NAME: z
    .string()
    .trim()
    .regex(/^[^\p{C}]{1,64}$/u, 'must be 1 to 64 characters')
    .optional(),
  REGISTRATION: z.enum(['open', 'invite', 'closed'], 'must be open, invite or closed').default('invite'),
  UPLOAD_APPROVAL: z.enum(['automatic', 'manual'], 'must be automatic or manual').default('automatic'),
  /** Whether an approved torrent waits again when its uploader changes it; only with manual approval of uploads. */
  EDIT_APPROVAL: z.enum(['automatic', 'manual'], 'must be automatic or manual').default('automatic'),
  /** Bytes of .torrent files that a member may upload per day (UTC), 0 for any number; staff may upload more. */
  UPLOAD_BYTES_PER_DAY: integer({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 512 * 1024 ** 2 }),
  /** Hours for which a completed torrent is to be seeded, unless as much was uploaded; 0 where nothing is asked. */
  SEED_HOURS: integer({ min: 0, max: 10_000, fallback: 72 }),
  /** The `source` field of every uploaded torrent, which gives it an info hash of its own; the host by default. */
  TORRENT_SOURCE: z
    .string()
    .regex(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters')
    .optional(),
  REST_READ_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 100 }),
  REST_WRITE_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 10 }),
  AUTH_LIMIT: integer({ min: 0, max: 1_000_000, fallback: 5 }),
  /** Days for which requests to the Torznab API stay in the log. */
  TORZNAB_LOG_DAYS: integer({ min: 1, max: 366, fallback: 30 }),
  /** How many they are at most, and how many bytes they take with their indexes; the oldest go first. */
  TORZNAB_LOG_REQUESTS: integer({ min: 1_000, max: 100_000_000, fallback: 1_000_000 }),
  TORZNAB_LOG_BYTES: integer({ min: 1_000_000, max: 1_000_000_000_000, fallback: 500_000_000 }),
  /** Torznab errors with the HTTP status that says the same, or, as the first specification had it, with 200. */
  TORZNAB_ERROR_STATUS: z.enum(['http', '200'], 'must be http or 200').default('http'),
})

/** The variables that are read, each described in `.env.example`. */
export const CONFIG_VARIABLES: readonly string[] = Object.keys(schema.shape)

/** The tracker's configuration; the variables are described in `.env.example`. */
export type Config = ReturnType<typeof readConfig>

/**
 * Reads the configuration.
 *
 * @param env usually `process.env`
 * @throws EnvError listing every problem at once
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const settings = parseEnv(schema, env)
  return Object.freeze({ ...settings, proxies: trustedProxies(settings.TRUSTED_PROXIES) })
}
