import type { Secrets } from '../client/secrets.ts'
import { cannotBeAsked } from '../client/transport.ts'
import { createVaultClient } from '../index.ts'
import { type Child, type Command, startChild, withSignals } from './child.ts'
import { type Copy, offlineCopy } from './offline-copy.ts'
import { notRedacted } from './redact.ts'
import { clientSettings, type GlobalOptions, noSecretsText } from './settings.ts'
import { CommandError, printable, type Terminal } from './terminal.ts'
import { durationText } from './values.ts'

export type RunOptions = GlobalOptions & {
  readonly env: string
  readonly allowEmpty?: boolean
  readonly redact?: boolean
  readonly watch?: boolean
  readonly watchSignal?: NodeJS.Signals
  /** Seconds. */
  readonly interval: number
  readonly offlineFallback?: boolean
  /** Seconds. */
  readonly maxAge: number
}

/** How long a command that is started anew may take to end before it is killed. */
const GRACE_MS = 10_000

/** Whoever has a copy of the secrets does not wait long for a vault that does not answer. */
const WITH_COPY = { timeoutMs: 5_000, retries: 1 } as const

/** What opens the vault, which the command is not given. */
const WITHHELD = ['VAULT_PRIVATE_KEY', 'VAULT_PRIVATE_KEY_FILE', 'VAULT_ADMIN_TOKEN'] as const

/** Runs a command with the secrets of an environment among its variables. Returns its exit status. */
export async function run(command: Command, options: RunOptions, terminal: Terminal): Promise<number> {
  const settings = await clientSettings(options, terminal)
  const copy = options.offlineFallback === true ? offlineCopy(settings, options.env, terminal.env) : undefined
  const hasCopy = copy !== undefined && typeof usableCopy(await copy.read(), options.maxAge) !== 'string'
  const client = createVaultClient({ ...settings, ...(hasCopy && WITH_COPY) })
  const tell = (text: string): unknown => terminal.stderr.write(`vault: ${text}\n`)

  const read = async (): Promise<Secrets> => {
    try {
      const secrets = await client.getAll(options.env)
      await keep(secrets)
      return secrets
    } catch (error) {
      if (copy === undefined || !cannotBeAsked(error)) throw error
      const kept = usableCopy(await copy.read(), options.maxAge)
      if (typeof kept === 'string') throw new CommandError(`${error.message}; ${kept}`)
      tell(`${error.message}; using secrets that were read ${durationText(ageOf(kept))} ago`)
      return kept.secrets
    }
  }
  const keep = async (secrets: Secrets): Promise<void> => {
    await copy?.write(secrets).catch(() => tell('the offline copy cannot be written'))
  }

  const start = (secrets: Secrets): Child => {
    const problem = problemOf(secrets, options)
    if (problem !== undefined) throw new CommandError(problem)
    if (options.redact === true)
      for (const key of notRedacted(secrets)) tell(`the value of ${printable(key)} is too short to be redacted`)
    const withheld = Object.fromEntries(WITHHELD.map((name) => [name, undefined]))
    return startChild(command, {
      env: { ...terminal.env, ...withheld, ...secrets },
      redacted: options.redact === true ? secrets : undefined,
      terminal,
    })
  }

  const first = await read()
  let child = start(first)
  // Told to end: then nothing is started anew.
  let isEnding = false
  return withSignals(
    (signal) => {
      if (ENDING.has(signal)) isEnding = true
      child.kill(signal)
    },
    async () => {
      if (options.watch !== true && options.watchSignal === undefined) return await child.ended
      let restarting: Promise<void> | undefined
      const restart = async (secrets: Secrets): Promise<void> => {
        await stop(child)
        if (!isEnding) child = start(secrets)
      }
      const watch = client.watch(options.env, {
        known: first,
        intervalMs: options.interval * 1000,
        onError: (error) => tell(error instanceof Error ? error.message : 'the environment cannot be read'),
        onRead: keep,
        onChange: async (secrets) => {
          if (isEnding) return
          if (options.watchSignal !== undefined) {
            tell(`secrets changed; sending ${options.watchSignal}`)
            child.kill(options.watchSignal)
            return
          }
          const problem = problemOf(secrets, options)
          if (problem !== undefined) {
            tell(`${problem}; the command goes on with the secrets it has`)
            return
          }
          tell('secrets changed; restarting')
          restarting = restart(secrets)
          await restarting
        },
      })
      try {
        for (;;) {
          const running = child
          await running.exited
          await restarting
          // It ended by itself, and not to be started anew.
          if (child === running) return await running.ended
        }
      } finally {
        await watch.stop()
      }
    },
  )
}

/** What `run` is sent to make the command end. */
const ENDING: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT'])

/** Resolves when the command has ended. Programs that it started may go on. */
async function stop(child: Child): Promise<void> {
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await child.exited.catch(() => undefined)
  clearTimeout(killer)
}

/** Why no command is started with these. Node's own refusal of a null byte repeats the value, and `A=B` as a name would set another variable. */
function problemOf(secrets: Readonly<Secrets>, { env, allowEmpty }: RunOptions): string | undefined {
  for (const [name, value] of Object.entries(secrets))
    if (name.includes('=') || value.includes('\0'))
      return `${JSON.stringify(name)} cannot be a variable of an environment; use vault get`
  if (Object.keys(secrets).length > 0 || allowEmpty === true) return undefined
  return `${noSecretsText(env)} --allow-empty runs the command anyway`
}

const ageOf = ({ readAt }: Copy): number => (Date.now() - readAt) / 1000

/** How far the clock may be behind the time of a copy, in seconds: so far it may be off for the vault too. */
const MAX_CLOCK_DIFFERENCE = 300

/** The copy where it may be used; why not, otherwise. */
function usableCopy(copy: Copy | 'missing' | 'unreadable', maxAge: number): Copy | string {
  if (copy === 'missing') return 'there is no offline copy of this environment'
  if (copy === 'unreadable') return 'the offline copy does not open: it was changed, or is of another key'
  const age = ageOf(copy)
  if (age > maxAge) return `the offline copy is ${durationText(age)} old, which is too old`
  if (age < -MAX_CLOCK_DIFFERENCE) return 'the offline copy is newer than the clock of this machine says it is'
  return copy
}
