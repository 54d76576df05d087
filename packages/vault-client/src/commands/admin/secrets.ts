import { type Changes, isUnchanged } from '../../client/secrets.ts'
import { assignmentHint, changesText, placeText, readValue } from '../secrets.ts'
import { environmentOf, type GlobalOptions } from '../settings.ts'
import { confirm, jsonLine, printable, type Terminal, UsageError } from '../terminal.ts'
import { done, print } from './admin.ts'
import { adminClient } from './client.ts'

/** The note, the owner and the expiry of a secret; false removes one. */
export type DetailOptions = {
  readonly note?: string | false
  readonly owner?: string | false
  readonly expires?: string | false
}

type PlaceOptions = GlobalOptions & { readonly env?: string }

const COLUMNS = ['id', 'key', 'env', 'updatedAt', 'expiresAt', 'owner', 'note', 'references'] as const
const EXPIRING_COLUMNS = ['expiresAt', 'project', 'env', 'key', 'owner', 'note', 'references', 'id'] as const

function bodyOf({ note, owner, expires }: DetailOptions): object {
  return {
    ...(note !== undefined && { note: note === false ? null : note }),
    ...(owner !== undefined && { owner: owner === false ? null : owner }),
    ...(expires !== undefined && { expiresAt: expires === false ? null : expires }),
  }
}

/** The actions of `vault admin secrets`. None of them reads a value. */
export const adminSecretCommands = {
  list: async (project: string, options: PlaceOptions, terminal: Terminal): Promise<void> =>
    print(await (await adminClient(options, terminal)).secrets(project, options.env), COLUMNS, options, terminal),

  expiring: async (options: GlobalOptions & { days: string }, terminal: Terminal): Promise<void> => {
    const { items, complete } = await (await adminClient(options, terminal)).expiring(options.days)
    print(items, EXPIRING_COLUMNS, options, terminal)
    if (!complete) terminal.stderr.write('vault: there are more; use --days with a lower number\n')
  },

  /** Stores a value from standard input, a prompt or a file. Other users can see values on command lines. */
  set: async (
    project: string,
    key: string,
    options: PlaceOptions & DetailOptions & { fromFile?: string; references?: boolean },
    terminal: Terminal,
  ): Promise<void> => {
    if (key.includes('=')) throw new UsageError(assignmentHint(key, `vault admin secrets set ${printable(project)}`))
    const env = await environmentOf(options, terminal)
    const admin = await adminClient(options, terminal)
    const value = await readValue(key, options, terminal, '--from-file /dev/null')
    const references = options.references === true && { references: true }
    const { version } = await admin.putSecret(project, { key, env, value, ...references, ...bodyOf(options) })
    const text = `Set ${placeText(key, project, env)}, version ${String(version)}.`
    done(options, terminal, text, { ok: true, version })
  },

  generate: async (
    project: string,
    key: string,
    options: PlaceOptions & DetailOptions & { length?: number; charset?: string; characters?: string },
    terminal: Terminal,
  ): Promise<void> => {
    const { length, charset, characters } = options
    if (charset !== undefined && characters !== undefined) throw new UsageError('use either --charset or --characters')
    const set = charset ?? characters
    const generate = { ...(length !== undefined && { length }), ...(set !== undefined && { charset: set }) }
    const env = await environmentOf(options, terminal)
    const admin = await adminClient(options, terminal)
    const { version } = await admin.putSecret(project, { key, env, generate, ...bodyOf(options) })
    const text = `Generated ${placeText(key, project, env)}, version ${String(version)}.`
    done(options, terminal, text, { ok: true, version })
  },

  annotate: async (id: string, options: GlobalOptions & DetailOptions, terminal: Terminal): Promise<void> => {
    const body = bodyOf(options)
    if (Object.keys(body).length === 0)
      throw new UsageError('nothing to change; use --note, --owner or --expires, or --no-… to remove one')
    await (await adminClient(options, terminal)).annotate(id, body)
    done(options, terminal, `Changed secret ${id}.`)
  },

  copy: async (
    places: { project: string; from: string; to: string },
    options: GlobalOptions & { only?: readonly string[]; overwrite?: boolean; yes?: boolean },
    terminal: Terminal,
  ): Promise<void> => {
    const { project, from, to } = places
    const { only, overwrite = false } = options
    const admin = await adminClient(options, terminal)
    const target = `${printable(project)}/${printable(to)}`
    if (overwrite)
      await confirm(
        terminal,
        `Overwrite secrets of ${target} with those of ${printable(from)}? Applications receive the copied values at their next fetch; the replaced values can be restored.`,
        options,
      )
    const answer = await admin.copySecrets(project, { from, to, overwrite, ...(only !== undefined && { keys: only }) })
    const { copied, skipped } = answer
    const kept = skipped === 0 ? '' : `; ${String(skipped)} exist there and were kept`
    done(options, terminal, `Copied ${countText(copied)} from ${from} to ${target}${kept}.`, answer)
  },

  /** Compares the keys of two environments. Returns the exit status. */
  compare: async (
    places: { project: string; left: string; right: string },
    options: GlobalOptions & { exitCode?: boolean },
    terminal: Terminal,
  ): Promise<number> => {
    const { project, left, right } = places
    const admin = await adminClient(options, terminal)
    const environments = await admin.environments(project)
    const parentOf = (env: string) => environments.find((each) => each['env'] === env)?.['parent']
    /** Including inherited keys. */
    const keysOf = async (env: string): Promise<ReadonlySet<string>> => {
      const keys = new Set<string>()
      for (let at: unknown = env; typeof at === 'string'; at = parentOf(at))
        for (const { key } of await admin.secrets(project, at)) keys.add(key)
      return keys
    }
    const [inLeft, inRight] = [await keysOf(left), await keysOf(right)]
    const changes: Changes = {
      added: [...inRight].filter((key) => !inLeft.has(key)),
      changed: [],
      removed: [...inLeft].filter((key) => !inRight.has(key)),
    }
    const same = `${printable(left)} and ${printable(right)} have the same keys.\n`
    if (options.json === true) terminal.stdout.write(jsonLine({ onlyLeft: changes.removed, onlyRight: changes.added }))
    else terminal.stdout.write(isUnchanged(changes) ? same : changesText(changes, terminal))
    return options.exitCode === true && !isUnchanged(changes) ? 1 : 0
  },
}

const countText = (count: number): string => `${String(count)} ${count === 1 ? 'secret' : 'secrets'}`
