import { changesBetween, isUnchanged, type Secrets } from '../client/secrets.ts'
import { cannotBeAsked } from '../client/transport.ts'
import { createVaultClient } from '../index.ts'
import { wantsExchange } from '../oidc/exchanged-settings.ts'
import { type Child, type Command, startChild, withSignals } from './child.ts'
import { type Copy, offlineCopy } from './offline-copy.ts'
import { notRedacted } from './redact.ts'
import { codeProblem, type SelectionOptions, selectSecrets } from './selection.ts'
import { clientSettings, type GlobalOptions, noSecretsText } from './settings.ts'
import { CommandError, printable, type Terminal, tell as tellOn, UsageError } from './terminal.ts'
import { durationText } from './values.ts'

export type RunOptions = GlobalOptions &
  SelectionOptions & {
    readonly env: string
    /** Variables that keep the value of the caller. */
    readonly preserveEnv?: readonly string[]
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

const GOES_ON = 'the command continues with its current secrets'

/** Time that the command has to exit before a restart kills it. */
const GRACE_MS = 10_000

/** With an offline copy, there is no need to wait long for an unavailable vault. */
const WITH_COPY = { timeoutMs: 5_000, retries: 1 } as const

/** Credentials for the vault, which the command does not receive. */
const WITHHELD = [
  ...(['VAULT_PRIVATE_KEY', 'VAULT_PRIVATE_KEY_FILE', 'VAULT_ADMIN_TOKEN'] as const),
  ...(['VAULT_ID_TOKEN', 'VAULT_ID_TOKEN_FILE'] as const),
] as const

/** Runs a command with the secrets of an environment as variables. Returns its exit status. */
export async function run(command: Command, options: RunOptions, terminal: Terminal): Promise<number> {
  if (options.offlineFallback === true && wantsExchange(options))
    throw new UsageError('--offline-fallback needs a permanent key, because the copy is encrypted with it')
  const settings = await clientSettings(options, terminal)
  const copy = options.offlineFallback === true ? offlineCopy(settings, options.env, terminal.env) : undefined
  const hasCopy = copy !== undefined && typeof usableCopy(await copy.read(), options.maxAge) !== 'string'
  const client = createVaultClient({ ...(hasCopy && WITH_COPY), ...settings })
  const tell = (text: string): void => tellOn(terminal, text)

  const read = async (): Promise<Secrets> => {
    try {
      const secrets = await client.getAll(options.env)
      await keep(secrets)
      return secrets
    } catch (error) {
      if (copy === undefined || !cannotBeAsked(error)) throw error
      const kept = usableCopy(await copy.read(), options.maxAge)
      if (typeof kept === 'string') throw new CommandError(`${error.message}; ${kept}`)
      tell(`${error.message}; using the offline copy, which is ${durationText(ageOf(kept))} old`)
      return kept.secrets
    }
  }
  const keep = async (secrets: Secrets): Promise<void> => {
    await copy?.write(secrets).catch(() => tell('the offline copy cannot be written'))
  }

  const choose = (all: Secrets): Secrets =>
    withoutPreserved(selectSecrets(all, options, options.env), options, terminal)
  /** @throws CommandError if the command cannot be started with these secrets */
  const chooseToStart = (all: Secrets): Secrets => {
    if (Object.keys(all).length === 0 && options.allowEmpty !== true)
      throw new CommandError(`${noSecretsText(options.env)}, or use --allow-empty`)
    const secrets = choose(all)
    const problem = problemOf(secrets, options)
    if (problem !== undefined) throw new CommandError(problem)
    return secrets
  }

  const start = (secrets: Secrets): Child => {
    if (options.redact === true)
      for (const key of notRedacted(secrets)) tell(`warning: the value of ${printable(key)} is too short to redact`)
    const withheld = Object.fromEntries(WITHHELD.map((name) => [name, undefined]))
    return startChild(command, {
      env: { ...terminal.env, ...withheld, ...secrets },
      path: terminal.env['PATH'],
      redacted: options.redact === true ? secrets : undefined,
      terminal,
    })
  }

  const first = await read()
  let given = chooseToStart(first)
  let child = start(given)
  // After a signal that ends the command, it is not restarted.
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
        onError: (error) =>
          tell(`${error instanceof Error ? error.message : 'the environment cannot be read'}; ${GOES_ON}`),
        onRead: keep,
        onChange: async (all) => {
          const secrets = options.watchSignal === undefined ? chooseToStart(all) : choose(all)
          if (isEnding || isUnchanged(changesBetween(given, secrets))) return
          given = secrets
          if (options.watchSignal !== undefined) {
            tell(`secrets changed; sending ${options.watchSignal}`)
            child.kill(options.watchSignal)
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
          // It exited on its own, not for a restart.
          if (child === running) return await running.ended
        }
      } finally {
        await watch.stop()
      }
    },
  )
}

const ENDING: ReadonlySet<NodeJS.Signals> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT'])

/** Resolves when the command has exited. Programs that it started may continue. */
async function stop(child: Child): Promise<void> {
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await child.exited.catch(() => undefined)
  clearTimeout(killer)
}

/** Leaves out the secrets that --preserve-env replaces with the caller's variables. */
function withoutPreserved(secrets: Secrets, { preserveEnv = [] }: RunOptions, { env }: Terminal): Secrets {
  const kept = preserveEnv.filter((name) => env[name] !== undefined)
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => !kept.includes(name)))
}

/**
 * Explains why a command cannot be started with these secrets. Node's own error for a null byte would repeat the value,
 * and a name such as `A=B` would set another variable.
 */
function problemOf(secrets: Readonly<Secrets>, options: RunOptions): string | undefined {
  const unfit = Object.keys(secrets).find((name) => name.includes('=') || secrets[name]?.includes('\0'))
  if (unfit === undefined) return codeProblem(secrets, options)
  return `${printable(JSON.stringify(unfit))} cannot be an environment variable; leave it out with --except, or use vault get`
}

const ageOf = ({ readAt }: Copy): number => (Date.now() - readAt) / 1000

/** How far the clock may be behind the time of a copy, in seconds. The vault tolerates the same difference. */
const MAX_CLOCK_DIFFERENCE = 300

/** Returns the copy, or the reason why it cannot be used. */
function usableCopy(copy: Copy | 'missing' | 'unreadable', maxAge: number): Copy | string {
  if (copy === 'missing') return 'there is no offline copy of this environment'
  if (copy === 'unreadable')
    return 'the offline copy cannot be decrypted: it is damaged, or was created with another key'
  const age = ageOf(copy)
  if (age > maxAge) return `the offline copy is ${durationText(age)} old, which is more than --max-age allows`
  if (age < -MAX_CLOCK_DIFFERENCE) return 'the offline copy is dated in the future; check the clock of this machine'
  return copy
}
