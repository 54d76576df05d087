import { Readable } from 'node:stream'

/** The exit status and output of a command. */
export type CommandOutcome = { status: number; stdout: string; stderr: string }

/** Runs a command in this process and collects its output. */
export async function captureCommand(
  run: (terminal: {
    args: readonly string[]
    env: Readonly<Record<string, string>>
    stdin: Readable
    stdout: { write(text: string): void }
    stderr: { write(text: string): void }
  }) => Promise<number>,
  { args, env = {}, stdin = '' }: { args: readonly string[]; env?: Readonly<Record<string, string>>; stdin?: string },
): Promise<CommandOutcome> {
  let [stdout, stderr] = ['', '']
  const status = await run({
    ...{ args, env, stdin: Readable.from([stdin]) },
    stdout: { write: (text) => void (stdout += text) },
    stderr: { write: (text) => void (stderr += text) },
  })
  return { status, stdout, stderr }
}
