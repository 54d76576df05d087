import { Readable } from 'node:stream'

/** What a command under test gets in place of its process. */
export type TestTerminal = {
  args: readonly string[]
  env: Readonly<Record<string, string>>
  stdin: Readable
  stdout: { write(text: string): void }
  stderr: { write(text: string): void }
}

/** The exit status and output of a command under test. */
export type CommandOutcome = {
  status: number
  stdout: string
  stderr: string
}

/** Runs a command in this process and collects what it prints. */
export async function captureCommand(
  run: (terminal: TestTerminal) => Promise<number>,
  given: { args: readonly string[]; env?: Readonly<Record<string, string>>; stdin?: string },
): Promise<CommandOutcome> {
  const outcome = { status: 0, stdout: '', stderr: '' }
  outcome.status = await run({
    args: given.args,
    env: given.env ?? {},
    stdin: Readable.from([given.stdin ?? '']),
    stdout: { write: (text) => void (outcome.stdout += text) },
    stderr: { write: (text) => void (outcome.stderr += text) },
  })
  return outcome
}
