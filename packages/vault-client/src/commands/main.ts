import { constants } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { runVaultCommand } from './program.ts'
import { askOn } from './prompt.ts'

/** Runs the command line of this process, and sets its exit status. */
export async function main(version: string): Promise<void> {
  const { argv, env, stdin, stdout, stderr } = process
  const ask = askOn(stdin, stderr)

  // Write errors are reported at the end. Without a listener, they would end the process with a stack trace.
  let failure: NodeJS.ErrnoException | undefined
  stdout.on('error', (error) => {
    failure ??= error
  })
  stderr.on('error', () => undefined)

  const status = await runVaultCommand({ args: argv.slice(2), env, stdin, stdout, stderr, ask }, version)
  await new Promise((resolve) => stdout.write('', resolve))
  // The stream emits an error after the callback of `write`.
  await setImmediate()
  process.exitCode = failure === undefined || status !== 0 ? status : outputFailed(failure)
}

/** Returns the exit status if the output cannot be written. A closed pipe is not an error, and ends like SIGPIPE. */
function outputFailed({ code = 'unknown error' }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 128 + constants.signals.SIGPIPE
  process.stderr.write(`vault: cannot write to standard output: ${code}\n`)
  return 1
}
