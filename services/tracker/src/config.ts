import {
  commonEnv,
  connectionUrl,
  flag,
  group,
  integer,
  limit,
  list,
  parseEnv,
  port,
  redisUrls,
} from '@vault-and-tracker/service-kit/config/env'
import { trustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { z } from 'zod'

const clientPrefixes = list()
  .refine(
    (parts) => parts.every((part) => /^[\x21-\x7e]{1,20}$/.test(part)),
    'must be a comma-separated list of prefixes of peer ids, 1 to 20 printable characters each',
  )
  .default([])

const approval = z.enum(['automatic', 'manual'], 'must be automatic or manual').default('automatic')

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((part) => part === '')
}

/** All settings, in the order of the generated tables; see `group`. */
export const settings = z.object({
  ...group('Network', {
    PUBLIC_URL: z
      .string()
      .refine(isBaseUrl, 'must be a URL that starts with http:// or https://, without user, query and fragment')
      // libtorrent derives the scrape address from the first "announce" of the whole URL, the host included.
      .refine((text) => !/announce/i.test(text), 'must not contain the word announce')
      .transform((text) => text.replace(/\/+$/, ''))
      .describe(
        'URL that users open, such as `https://tracker.example.org`: the base of announce URLs, and the only ' +
          'origin that may send changes. It must not contain "announce".',
      ),
    PORT: port(6969).describe('Port to listen on.'),
  }),
  ...commonEnv,
  ...group('Network', {
    TRACKER_WORKERS: integer({ min: 1, max: 256, fallback: 1 }).describe('Number of processes that share the port.'),
  }),
  ...group('Postgres and Redis', {
    SEARCH_POOL_SIZE: integer({ min: 1, max: 100, fallback: 2 }).describe(
      'Additional connections to Postgres for searches. Use at most half the number of its cores.',
    ),
    SWARM_REDIS_URL: redisUrls()
      .meta({ secret: true })
      .describe(
        'Separate Redis for swarms and accounting, or two or more comma-separated nodes of a Redis Cluster. ' +
          'Default: `REDIS_URL`.',
      ),
  }),
  ...group('Site', {
    SITE_NAME: z
      .string()
      .trim()
      .regex(/^[^\p{C}]{1,64}$/u, 'must be 1 to 64 characters')
      .optional()
      .describe('Name of the site. Default: "Tracker" on web pages, the host of `PUBLIC_URL` in Torznab.'),
    REGISTRATION: z
      .enum(['open', 'invite', 'closed'], 'must be open, invite or closed')
      .default('invite')
      .describe('Who can register: `open`, `invite` or `closed`.'),
    STAFF_SECOND_FACTOR: flag(false).describe(
      'Moderators and administrators need a second factor. Without one, they can only add one to their account.',
    ),
    UPLOAD_APPROVAL: approval.describe('`manual`: uploads by members wait for a moderator.'),
    EDIT_APPROVAL: approval.describe(
      'With `UPLOAD_APPROVAL=manual`: edits by members hide an approved torrent until a moderator approves it again ' +
        '(`manual`), or are only logged.',
    ),
    ADDRESS_LOG_DAYS: integer({ min: 0, max: 366, fallback: 30 }).describe(
      'Days to keep the IP address of a user after the last request from it, for administrators who look for shared ' +
        'accounts; 0 to store none.',
    ),
    UPLOAD_BYTES_PER_DAY: integer({ min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 512 * 1024 ** 2 }).describe(
      'Bytes of .torrent files that a member can upload per day (UTC); 0 for no limit. Staff have no limit.',
    ),
    SEED_HOURS: integer({ min: 0, max: 10_000, fallback: 72 }).describe(
      'Hours that members should seed a completed torrent, unless they uploaded as much as they downloaded; 0 for ' +
        'no rule. Members see what they still have to seed.',
    ),
    TORRENT_SOURCE: z
      .string()
      .regex(/^[\x20-\x7e]{1,64}$/, 'must be 1 to 64 printable ASCII characters')
      .optional()
      .describe(
        '`source` field of every uploaded torrent, which makes its info hash unique to this site. Default: the ' +
          'host of `PUBLIC_URL`.',
      ),
  }),
  ...group('Email', {
    SMTP_URL: connectionUrl('smtp', 'smtps')
      .optional()
      .meta({ secret: true })
      .describe(
        'SMTP server, such as `smtp://user:password@mail.example.org:587` (STARTTLS) or `smtps://…`. Without it, the ' +
          'tracker sends no email.',
      ),
    SMTP_FROM: z
      .string()
      .regex(
        /^([^<>\p{C}]{1,64} )?<?[^\s@<>,;]+@[^\s@<>,;]+>?$/u,
        'must be an address, such as Tracker <tracker@example.org>',
      )
      .optional()
      .describe(
        'Sender of emails, such as `Tracker <tracker@example.org>`. Default: `tracker@` the host of `PUBLIC_URL`.',
      ),
  }),
  ...group('REST API', {
    REST_READ_LIMIT: limit(100).describe('Reads per minute for each user; 0 for no limit.'),
    REST_WRITE_LIMIT: limit(10).describe('Writes per minute for each user; 0 for no limit.'),
    REST_STAFF_WRITE_LIMIT: limit(60).describe(
      'Writes per minute for each moderator or administrator; 0 for no limit.',
    ),
    AUTH_LIMIT: limit(5).describe(
      'Sign-ins, registrations and wrong passwords per IP address and account in five minutes; 0 for no limit. The ' +
        'limit per IP address is ten times higher. Second-factor codes also have an hourly limit per account, ' +
        'four times higher.',
    ),
  }),
  ...group('IRC', {
    IRC_PORT: integer({ min: 0, max: 65_535, fallback: 0 }).describe(
      'Port of the IRC listener, which announces new torrents to members; 0 for none.',
    ),
    IRC_TLS_CERT: z
      .string()
      .optional()
      .describe('File with the certificate and its chain (PEM). Without it, run a TLS proxy in front.'),
    IRC_TLS_KEY: z.string().optional().describe('File with the private key of the certificate (PEM).'),
    IRC_URL: connectionUrl('irc', 'ircs')
      .optional()
      .describe(
        'Address for clients, such as `ircs://irc.example.org:6697`. Default: the host of `PUBLIC_URL` and `IRC_PORT`.',
      ),
  }),
  ...group('Webhooks', {
    WEBHOOK_ALLOW_PRIVATE: flag(false).describe(
      'Let webhooks have `http://` URLs and private addresses. Their owners can then reach your network.',
    ),
  }),
  ...group('Torznab', {
    TORZNAB_ERROR_STATUS: z
      .enum(['http', '200'], 'must be http or 200')
      .default('http')
      .describe(
        'HTTP status of Torznab errors: the matching one (`http`), or always `200`, except for rate limits and ' +
          'downloads.',
      ),
    TORZNAB_LOG_DAYS: integer({ min: 1, max: 366, fallback: 30 }).describe(
      'Days to keep requests in the request log. Statistics are permanent.',
    ),
    TORZNAB_LOG_REQUESTS: integer({ min: 1_000, max: 100_000_000, fallback: 1_000_000 }).describe(
      'Maximum number of requests in the log. The oldest are deleted first.',
    ),
    TORZNAB_LOG_BYTES: integer({ min: 1_000_000, max: 1_000_000_000_000, fallback: 500_000_000 }).describe(
      'Maximum size of the log with its indexes, in bytes.',
    ),
  }),
  ...group('Announces', {
    TRACKER_MODE: z
      .enum(['private', 'open'], 'must be private or open')
      .default('private')
      .describe('`private`: announces need a passkey and a registered torrent. `open`: they need neither.'),
    ANNOUNCE_INTERVAL: integer({ min: 10, max: 86_400, fallback: 1_800 }).describe(
      'Seconds between two announces of a client (BEP 3 `interval`).',
    ),
    MIN_ANNOUNCE_INTERVAL: integer({ min: 1, max: 86_400, fallback: 900 }).describe(
      'Minimum seconds between two announces of a client (`min interval`).',
    ),
    ANNOUNCE_LIMIT: limit(200).describe(
      'Announces with peers per minute for each user, or all announces for each address in open mode; 0 for no limit.',
    ),
    SCRAPE_LIMIT: limit(6_000).describe('Scrapes per minute for each address; 0 for no limit.'),
    UNKNOWN_PASSKEY_LIMIT: limit(1_000).describe(
      'Announces and scrapes with an unknown passkey, per minute for each address; 0 for no limit.',
    ),
    FULL_SCRAPE: flag(false).describe(
      'In open mode, answer a scrape without info hashes with up to 5,000 active torrents.',
    ),
    MAX_CLIENTS_PER_TORRENT: integer({ min: 1, max: 1_000, fallback: 5 }).describe(
      'Maximum number of clients per user and torrent.',
    ),
    CLIENTS_ALLOWED: clientPrefixes.describe(
      'Comma-separated prefixes of peer IDs, such as `-TR4,-qB5`. If set, only these clients can announce.',
    ),
    CLIENTS_DENIED: clientPrefixes.describe('Comma-separated prefixes of peer IDs that cannot announce.'),
    ALLOW_PRIVATE_PEERS: flag(false).describe(
      'Include loopback and private addresses in peer lists. For tests and closed networks.',
    ),
    ALLOW_IP_PARAM: flag(false).describe('Trust the address that a client sends in `ip`, `ipv4` and `ipv6`.'),
    ANNOUNCE_FRONT: flag(true).describe(
      "Read announces before Node's HTTP server, which is faster. The responses are the same.",
    ),
  }),
  ...group('WebTorrent', {
    WEBSOCKET: flag(true).describe('Accept announces over WebSockets, on the same port.'),
    WS_ORIGINS: list()
      .refine(
        (parts) => parts.every((part) => URL.canParse(part) && new URL(part).origin === part.toLowerCase()),
        'must be comma-separated origins, such as https://example.org',
      )
      .transform((parts) => parts.map((part) => part.toLowerCase()))
      .default([])
      .describe('Comma-separated origins of pages that can connect, such as `https://example.org`. Default: any.'),
    WS_SOCKETS_PER_ADDRESS: integer({ min: 1, max: 1_000_000, fallback: 100 }).describe(
      'Maximum number of WebSockets per address, and per user, in each process.',
    ),
    WS_TORRENTS_PER_SOCKET: integer({ min: 1, max: 100_000, fallback: 200 }).describe(
      'Maximum number of torrents per WebSocket.',
    ),
    WS_MESSAGES_PER_SECOND: integer({ min: 1, max: 1_000_000, fallback: 20 }).describe(
      'Messages per second and WebSocket, with bursts of up to ten times as many.',
    ),
  }),
})

/** The configuration of the tracker. */
export type Config = ReturnType<typeof readConfig>

/** Reads the configuration. @throws EnvError listing every problem */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const values = parseEnv(settings, env)
  return Object.freeze({ ...values, proxies: trustedProxies(values.TRUSTED_PROXIES) })
}
