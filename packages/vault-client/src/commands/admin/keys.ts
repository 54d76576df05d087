import { writeNew } from '../files.ts'
import type { GlobalOptions } from '../settings.ts'
import { jsonLine, NotFoundError, printable, type Terminal, tell, UsageError } from '../terminal.ts'
import { cell, done, print, scopeOf } from './admin.ts'
import { type AdminClient, adminClient, type Row } from './client.ts'
import { changesScope, grantText, keptScope, readScope, type Scope, type ScopeOptions, withScopeText } from './scope.ts'

/** The name of a project's first key. */
const DEFAULT_KEY = 'default'

type NewKeyOptions = GlobalOptions &
  ScopeOptions & { readonly publicKey?: string; readonly output?: string; readonly expires?: number }

function requireOneDestination({ publicKey, output }: NewKeyOptions): void {
  if (publicKey !== undefined && output !== undefined)
    throw new UsageError('use either --public-key or --output: with a public key, there is no private key to write')
}

/** The expiry of a key, if an option sets one. */
function expiryOf(expires: number | undefined): { expiresAt?: string } {
  return expires === undefined ? {} : { expiresAt: new Date(Date.now() + expires * 1000).toISOString() }
}

/** Prints the private key of a new key as `vault keygen` does, or writes it to a new file; otherwise prints `text`. */
async function deliver(
  text: string,
  { output, ...options }: NewKeyOptions,
  terminal: Terminal,
  create: () => Promise<Row>,
): Promise<void> {
  const privateKeyOf = ({ privateKey }: Row): string => (typeof privateKey === 'string' ? privateKey : '')
  if (output !== undefined) {
    await writeNew(output, async () => `${privateKeyOf(await create())}\n`)
    done(options, terminal, text, { ok: true, file: output })
    return
  }
  const created = await create()
  const privateKey = privateKeyOf(created)
  if (privateKey !== '' && options.json !== true) terminal.stdout.write(`${privateKey}\n`)
  else done(options, terminal, text, created)
}

/** Reports how long the replaced key stays active, according to the local clock. The overlap is in seconds. */
function endText(overlap: number): string {
  if (overlap === 0) return 'the replaced key is revoked'
  return `the replaced key is active until ${new Date(Date.now() + overlap * 1000).toISOString()}`
}

/** Whether a key was exchanged for an ID token. Its name is that of the trust rule. */
const isExchanged = (key: Row): boolean => key['subject'] !== undefined

/**
 * The keys that a name or fingerprint refers to.
 *
 * @param ofRule whether the name is that of a trust rule, otherwise that of a lasting key
 * @throws CommandError if there are none
 */
async function fingerprintsOf(
  admin: AdminClient,
  project: string,
  nameOrFingerprint: string,
  ofRule: boolean,
): Promise<readonly string[]> {
  const keys = await admin.keys(project)
  const found = keys.filter(({ fingerprint }) => fingerprint === nameOrFingerprint)
  const named = keys.filter((key) => key['name'] === nameOrFingerprint && isExchanged(key) === ofRule)
  const chosen = found.length > 0 && !ofRule ? found : named
  if (chosen.length === 0) {
    const what = ofRule ? 'active keys exchanged under the trust rule' : 'active key'
    throw new NotFoundError(`${printable(project)} has no ${what} ${printable(nameOrFingerprint)}`)
  }
  return chosen.map(({ fingerprint }) => cell(fingerprint))
}

const COLUMNS = ['name', 'state', 'fingerprint', 'until', 'lastUsedAt', 'scope', 'subject']

/** The actions of `vault admin keys`. */
export const keyCommands = {
  list: async (project: string, options: GlobalOptions & { ended?: boolean }, terminal: Terminal) => {
    const keys = await (await adminClient(options, terminal)).keys(project, options.ended)
    print(withScopeText(keys, options), COLUMNS, options, terminal)
  },

  add: async (project: string, name: string, options: NewKeyOptions, terminal: Terminal) => {
    requireOneDestination(options)
    const { publicKey, expires } = options
    const admin = await adminClient(options, terminal)
    const scope: Scope = { access: options.access ?? 'read-write', envs: options.envs ?? null }
    await deliver(`Added the key ${name} to ${project}.`, options, terminal, async () => {
      const expiry = expiryOf(expires)
      const key = { name, ...(publicKey !== undefined && { publicKey }), ...scopeOf(options), ...expiry }
      const added = await admin.addKey(project, key)
      const until = expiry.expiresAt === undefined ? '' : ` until ${expiry.expiresAt}`
      tell(terminal, `${grantText(scope)}${until}`)
      return added
    })
  },

  /** An option changes only its part of the scope, so the scope of the replaced key is read first. It may have ended. */
  rotate: async (
    project: string,
    name: string | undefined,
    options: NewKeyOptions & { overlap: number; lasting?: boolean },
    terminal: Terminal,
  ) => {
    requireOneDestination(options)
    const { publicKey, overlap, expires, lasting } = options
    if (options.envs !== undefined && options.allEnvs === true) throw new UsageError('use either --envs or --all-envs')
    if (expires !== undefined && lasting === true) throw new UsageError('use either --expires or --lasting')
    const admin = await adminClient(options, terminal)
    const namesakes = (await admin.keys(project, true)).filter(
      (key) => key['name'] === (name ?? DEFAULT_KEY) && !isExchanged(key),
    )
    // Sorted newest first.
    const active = namesakes.find(({ state }) => state === 'active' || state === 'replaced')
    const replaced = active ?? namesakes[0]
    const scope = keptScope(options, replaced === undefined ? undefined : readScope(replaced['scope']))
    if (scope === undefined && changesScope(options))
      throw new UsageError(
        `${printable(project)} has no key whose scope could be kept; set --access, and --envs or --all-envs`,
      )
    const which = name === undefined ? 'the key' : `the key ${name}`
    await deliver(`Replaced ${which} of ${project}.`, options, terminal, async () => {
      const expiry = lasting === true ? { expiresAt: null } : expiryOf(expires)
      const key = {
        ...(name !== undefined && { name }),
        ...(publicKey !== undefined && { publicKey }),
        ...(changesScope(options) && { scope }),
        ...expiry,
      }
      const rotated = await admin.rotate(project, { ...key, overlap })
      const texts = [scope && grantText(scope), active && endText(overlap)].filter((each) => each !== undefined)
      if (texts.length > 0) tell(terminal, texts.join('; '))
      return rotated
    })
  },

  revoke: async (
    project: string,
    nameOrFingerprint: string,
    options: GlobalOptions & { exchanged?: boolean },
    terminal: Terminal,
  ) => {
    const admin = await adminClient(options, terminal)
    const revoked = await fingerprintsOf(admin, project, nameOrFingerprint, options.exchanged === true)
    for (const fingerprint of revoked) await admin.revokeKey(project, fingerprint)
    if (options.json === true) terminal.stdout.write(jsonLine({ ok: true, revoked }))
    else for (const fingerprint of revoked) done(options, terminal, `Revoked key ${fingerprint} of ${project}.`)
  },
}
