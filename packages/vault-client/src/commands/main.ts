import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { runVaultCommand } from './program.ts'
import { askOn } from './prompt.ts'

const { argv, env, stdin, stdout, stderr } = process
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}
const ask = askOn(stdin, stderr)

// What cannot be written is reported at the end: an error without a listener would end the process with a stack.
let failure: NodeJS.ErrnoException | undefined
stdout.on('error', (error) => {
  failure ??= error
})
stderr.on('error', () => undefined)

const status = await runVaultCommand({ args: argv.slice(2), env, stdin, stdout, stderr, ask }, version)
await new Promise((resolve) => stdout.write('', resolve))
// The stream tells its error after those who wait for it.
await setImmediate()
process.exitCode = failure === undefined || status !== 0 ? status : outputFailed(failure)

/** The exit status where the result could not be written: that of SIGPIPE where its reader has gone, which is no error. */
function outputFailed({ code = 'unknown error' }: NodeJS.ErrnoException): number {
  if (code === 'EPIPE') return 128 + constants.signals.SIGPIPE
  stderr.write(`vault: cannot write to standard output: ${code}\n`)
  return 1
}
