import type { Secrets } from '../client/secrets.ts'
import { cannotBeAsked } from '../client/transport.ts'
import { createVaultClient } from '../index.ts'
import { type Child, type Command, startChild, withSignals } from './child.ts'
import { offlineCopy } from './offline-copy.ts'
import { notRedacted } from './redact.ts'
import { clientSettings, type GlobalOptions } from './settings.ts'
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

/** What opens the vault, which the command is not given. */
const WITHHELD = ['VAULT_PRIVATE_KEY', 'VAULT_PRIVATE_KEY_FILE', 'VAULT_ADMIN_TOKEN'] as const

/** Runs a command with the secrets of an environment among its variables. Returns its exit status. */
export async function run(command: Command, options: RunOptions, terminal: Terminal): Promise<number> {
  const settings = await clientSettings(options, terminal)
  const client = createVaultClient(settings)
  const copy = options.offlineFallback === true ? offlineCopy(settings, options.env, terminal.env) : undefined
  const tell = (text: string): unknown => terminal.stderr.write(`vault: ${text}\n`)

  const read = async (): Promise<Secrets> => {
    try {
      const secrets = await client.getAll(options.env)
      await copy?.write(secrets).catch(() => tell('the offline copy cannot be written'))
      return secrets
    } catch (error) {
      if (copy === undefined || !cannotBeAsked(error)) throw error
      const kept = await copy.read()
      if (kept === undefined) throw error
      const age = (Date.now() - kept.readAt) / 1000
      if (age > options.maxAge)
        throw new CommandError(`${error.message}; the offline copy is ${durationText(age)} old, which is too old`)
      tell(`${error.message}; using secrets that were read ${durationText(age)} ago`)
      return kept.secrets
    }
  }

  const start = (secrets: Secrets): Child => {
    refuseOtherThanVariables(secrets)
    if (Object.keys(secrets).length === 0 && options.allowEmpty !== true)
      throw new CommandError(
        `the environment ${printable(options.env)} has no secrets; is the name right? --allow-empty runs the command anyway`,
      )
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
  let stopping: NodeJS.Signals | undefined
  return withSignals(
    (signal) => {
      if (signal !== 'SIGWINCH' && signal !== 'SIGCONT') stopping = signal
      child.kill(signal)
    },
    async () => {
      if (options.watch !== true && options.watchSignal === undefined) return await child.ended
      let restarting: Promise<void> | undefined
      const watch = client.watch(options.env, {
        known: first,
        intervalMs: options.interval * 1000,
        onError: (error) => tell(error instanceof Error ? error.message : 'the environment cannot be read'),
        onChange: async (secrets) => {
          await copy?.write(secrets).catch(() => undefined)
          if (options.watchSignal !== undefined) {
            tell(`secrets changed; sending ${options.watchSignal}`)
            child.kill(options.watchSignal)
            return
          }
          tell('secrets changed; restarting')
          restarting = restart(child).then(() => {
            child = start(secrets)
            // It came while there was nothing to hand it to.
            if (stopping !== undefined) child.kill(stopping)
          })
          await restarting
        },
      })
      try {
        for (;;) {
          const running = child
          const status = await running.ended
          await restarting
          // It ended by itself, and not to be started anew.
          if (child === running) return status
        }
      } finally {
        await watch.stop()
      }
    },
  )
}

async function restart(child: Child): Promise<void> {
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await child.ended.catch(() => undefined)
  clearTimeout(killer)
}

/** Node's own refusal of a null byte repeats the value, and `A=B` as a name would set another variable. */
function refuseOtherThanVariables(secrets: Readonly<Secrets>): void {
  for (const [name, value] of Object.entries(secrets))
    if (name.includes('=') || value.includes('\0'))
      throw new CommandError(`${JSON.stringify(name)} cannot be a variable of an environment; use vault get`)
}
