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
  /** The PATH in which the command is looked up. It is the caller's, which may differ from the one in `env`. */
  readonly path: string | undefined
  /** Secrets to redact in the output. If undefined, the command inherits our streams. */
  readonly redacted?: Readonly<Record<string, string>> | undefined
  readonly terminal: Terminal
}

export type Child = {
  /** The exit status, or 128 + n if signal n ended the command. Resolves after all output is written. */
  readonly ended: Promise<number>
  /** The same, but resolves when the command exits. Programs that it started may still write to its output. */
  readonly exited: Promise<number>
  kill(signal: NodeJS.Signals): void
}

/** Exit statuses of shells (POSIX, Shell Command Language 2.8.2). */
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
  // A caller that only awaits `exited` must not cause an unhandled rejection.
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
    // `spawn` throws some errors and emits others.
    throw startError(command, error)
  }
}

/** The default of execvp if PATH is unset. */
const DEFAULT_PATH = '/usr/bin:/bin'

/**
 * Finds the file of a command as a shell does. Returns the first executable file, or else a file whose start will fail.
 */
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
  const remedy =
    code === 'E2BIG' ? '; the secrets are too large for the environment of a program; select fewer with --only' : ''
  return new CommandError(`cannot run ${printable(command)}: ${code}${remedy}`, NOT_EXECUTABLE)
}

/**
 * Forwards output with backpressure. If our output is closed, the command's next write fails, as if it were its own.
 */
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

/** Signals that a terminal sends to the whole foreground process group, which includes the command. */
const SENT_BY_TERMINALS = ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const
const FORWARDED = ['SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'] as const

/**
 * Forwards signals to the command while `run` is under way. The command receives the signals of a terminal itself, and
 * a second one would stop it ungracefully, so these are only forwarded if this process has no controlling terminal.
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

/** Whether this process has a controlling terminal, even if its standard streams are redirected. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
