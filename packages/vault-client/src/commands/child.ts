import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, closeSync, constants as files, openSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, join } from 'node:path'
import { codeOf } from './files.ts'
import { createRedactor } from './redact.ts'
import { CommandError, printable, type Terminal } from './terminal.ts'

export type Command = readonly [command: string, ...args: string[]]

export type ChildOptions = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where the command is looked for: the PATH of the caller, whatever that of the command is. */
  readonly path: string | undefined
  /** Values that are replaced in what it writes; left out, it writes to our own streams. */
  readonly redacted?: Readonly<Record<string, string>> | undefined
  readonly terminal: Terminal
}

export type Child = {
  /** The exit status of a shell: its own, or 128 and the number of the signal that ended it. All of its output has passed. */
  readonly ended: Promise<number>
  /** Resolves with the command itself: programs that it started may still hold its output. */
  readonly exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

/** How a shell tells that a command was not found, or cannot be run (POSIX, Shell Command Language 2.8.2). */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

/** Starts a command, without a shell. */
export function startChild([command, ...args]: Command, { env, path, redacted, terminal }: ChildOptions): Child {
  const child = spawnCommand(command, args, { env, path }, redacted === undefined ? 'inherit' : 'pipe')
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', (error) => reject(startError(command, error)))
    child.once('exit', (status, signal) => resolve(signal === null ? (status ?? 1) : 128 + constants.signals[signal]))
  })
  const passed =
    redacted === undefined
      ? undefined
      : Promise.all([pass(child.stdout, terminal.stdout, redacted), pass(child.stderr, terminal.stderr, redacted)])
  const ended = exited.then(async (status) => {
    await passed
    return status
  })
  // Who waits for one of the two need not wait for the other.
  ended.catch(() => undefined)
  return {
    ...{ exited, ended },
    kill: (signal) => void child.kill(signal),
  }
}

function spawnCommand(
  command: string,
  args: readonly string[],
  { env, path }: Pick<ChildOptions, 'env' | 'path'>,
  output: 'inherit' | 'pipe',
): ChildProcess {
  if (command === '') throw new CommandError('the command is empty', NOT_FOUND)
  try {
    const file = resolveCommand(command, path)
    return spawn(file, args, { argv0: command, env, stdio: ['inherit', output, output] })
  } catch (error) {
    // Some failures of the system are thrown, others come as an event.
    throw startError(command, error)
  }
}

/** What a system looks in for a user without a PATH (execvp). */
const DEFAULT_PATH = '/usr/bin:/bin'

/** The file of a command, as a shell finds it: the first executable one; else one that is not, whose start then says so. */
function resolveCommand(command: string, path: string | undefined): string {
  if (command.includes('/') || process.platform === 'win32') return command
  const found = (path ?? DEFAULT_PATH)
    .split(delimiter)
    .map((folder) => join(folder || '.', command))
    .map((file) => (file.includes('/') ? file : `./${file}`))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true)
  const [first] = found
  if (first === undefined) throw Object.assign(new Error('not found'), { code: 'ENOENT' })
  return found.find(isExecutable) ?? first
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, files.X_OK)
    return true
  } catch {
    return false
  }
}

function startError(command: string, error: unknown): CommandError {
  const code = codeOf(error)
  if (code === 'ENOENT') return new CommandError(`command not found: ${printable(command)}`, NOT_FOUND)
  const remedy = code === 'E2BIG' ? '; the secrets are larger than the environment of a program may be; use --only' : ''
  return new CommandError(`cannot run ${printable(command)}: ${code}${remedy}`, NOT_EXECUTABLE)
}

/** Passes output on, no faster than it is taken. Where nobody takes it, the command's next write fails, as it would without us. */
async function pass(
  from: ChildProcess['stdout'],
  to: Terminal['stdout'],
  redacted: Readonly<Record<string, string>>,
): Promise<void> {
  if (from === null) return
  try {
    for await (const chunk of from.pipe(createRedactor(redacted))) await written(to, chunk as Buffer)
  } catch {
    from.destroy()
  }
}

function written(to: Terminal['stdout'], chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
}

/** What a terminal sends to every process of the foreground group: to us and to the command. */
const SENT_BY_TERMINALS = ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const
const FORWARDED = ['SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const

/**
 * Hands signals on while `run` is under way, each once: what a terminal sends, the command got by itself, and a second one
 * would make it stop ungracefully. So these are only handed on where no terminal controls this process.
 */
export async function withSignals<T>(kill: (signal: NodeJS.Signals) => void, run: () => Promise<T>): Promise<T> {
  const isControlled = hasTerminal()
  const ignore = (): void => undefined
  const handlers: [NodeJS.Signals, () => void][] = [
    ...FORWARDED.map((signal): [NodeJS.Signals, () => void] => [signal, () => kill(signal)]),
    ...SENT_BY_TERMINALS.map((signal): [NodeJS.Signals, () => void] => [
      signal,
      isControlled ? ignore : () => kill(signal),
    ]),
  ]
  for (const [signal, handler] of handlers) process.on(signal, handler)
  try {
    return await run()
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler)
  }
}

/** Whether a terminal controls this process, whatever its standard streams are. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
