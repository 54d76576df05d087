import { readFile } from 'node:fs/promises'
import { addressKey } from '@vault-and-tracker/service-kit/http/client-address'
import { observe } from '@vault-and-tracker/service-kit/metrics/registry'
import { createSharedCounts } from '../announce/limits.redis.ts'
import { createCountLimit } from '../announce/limits.ts'
import type { Config } from '../config.ts'
import { createAudience } from '../events/audience.ts'
import type { Events } from '../events/events.ts'
import { whenRevoked } from '../invalidation/invalidation.ts'
import type { IrcAddress, IrcSite } from '../irc/autobrr.ts'
import { CHANNEL } from '../irc/irc-messages.ts'
import { createIrcServer, type IrcServer } from '../irc/irc-server.routes.ts'
import { createIrcSignIn } from '../irc/irc-sign-in.ts'
import type { Connections } from './connections.ts'
import type { Site } from './site.ts'
import type { TokenUseCases } from './tokens.ts'

const BOUNDS = { perUser: 5, total: 2_000 }
const SWEEP_EVERY_MS = 15_000
const RENEW_EVERY_MS = 3_600_000
/** An address may use ten times AUTH_LIMIT in five minutes, which is twice AUTH_LIMIT per minute. */
const SIGN_INS_PER_MINUTE = 2

export type IrcPart = {
  /** Undefined if `IRC_PORT` is 0. */
  readonly irc: IrcServer | undefined
  /** Null if `IRC_PORT` is 0. */
  readonly ircAddress: IrcAddress | null
  /** Reads the name of the site. Undefined if `IRC_PORT` is 0. */
  readonly ircSite: () => Promise<IrcSite | undefined>
}

/**
 * Creates the IRC listener, which does not listen yet.
 *
 * @throws Error if the certificate cannot be read, or only one of its files is set
 */
export async function createIrcPart(
  connections: Connections,
  parts: Pick<TokenUseCases, 'apiTokens'> & Pick<Site, 'siteConfiguration'> & { readonly events: Events },
): Promise<IrcPart> {
  const { config } = connections
  const files = certificateFiles(config)
  if (config.IRC_PORT === 0) return { irc: undefined, ircAddress: null, ircSite: () => Promise.resolve(undefined) }
  const irc = await createServer(connections, parts, files)
  const host = new URL(config.PUBLIC_URL).hostname
  const url = new URL(config.IRC_URL ?? `${files === undefined ? 'irc' : 'ircs'}://${host}:${String(config.IRC_PORT)}`)
  const tls = url.protocol === 'ircs:'
  const port = url.port === '' ? (tls ? 6_697 : 6_667) : Number(url.port)
  const ircAddress = { host: url.hostname, port, tls, channel: CHANNEL }
  const ircSite = async (): Promise<IrcSite> => {
    const { name } = await parts.siteConfiguration.look()
    return { name: name ?? host, publicUrl: config.PUBLIC_URL, ...ircAddress }
  }
  return { irc, ircAddress, ircSite }
}

function certificateFiles({ IRC_TLS_CERT: cert, IRC_TLS_KEY: key }: Config) {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw new Error('set both IRC_TLS_CERT and IRC_TLS_KEY, or neither')
  return { cert, key }
}

/** Reads a certificate with its chain, and its private key. @throws Error naming the file that cannot be read */
async function readCertificate(files: { readonly cert: string; readonly key: string }) {
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)])
  return { cert, key }
}

async function createServer(
  { config, redis, metrics, logger, clock, invalidations, background }: Connections,
  { apiTokens, events }: Pick<TokenUseCases, 'apiTokens'> & { readonly events: Events },
  files: { readonly cert: string; readonly key: string } | undefined,
): Promise<IrcServer> {
  const audience = createAudience(BOUNDS)
  const isTrusted = (address: string): boolean => config.proxies.isTrusted(address)
  const irc = createIrcServer({
    name: new URL(config.PUBLIC_URL).hostname,
    certificate: files && (await readCertificate(files)),
    ...{ audience, clock, isTrusted },
    onError: (error) => logger.error({ err: error }, 'IRC connection failed'),
    signIn: createIrcSignIn({
      tokens: apiTokens,
      limit: createCountLimit({
        name: 'irc-sign-in',
        limit: config.AUTH_LIMIT * SIGN_INS_PER_MINUTE,
        counts: createSharedCounts(redis),
        clock,
      }),
      prepare: events.refresh,
      limitKeyOf: (address) => (isTrusted(address) ? undefined : addressKey(address)),
    }),
  })
  events.listen((read) => irc.announce(read))
  observe(metrics.registry, 'tracker_irc_connections', 'Open connections to the IRC listener', () => irc.size())
  const onError = (error: unknown): void => logger.warn({ err: error }, 'checking IRC clients failed; will retry')
  background.add({ everyMs: SWEEP_EVERY_MS, task: () => irc.sweep(), onError })
  if (files !== undefined)
    background.add({
      everyMs: RENEW_EVERY_MS,
      task: async () => irc.renew(await readCertificate(files)),
      onError: (error) => logger.warn({ err: error }, 'IRC certificate reload failed; will retry'),
    })
  invalidations.addCache(whenRevoked((userId) => audience.check(userId)))
  return irc
}
