import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CommandError, type Terminal } from './terminal.ts'

/** How long other lines of what was pasted may take. */
const PASTE_MS = 30

/** Questions on a terminal: written to standard error, so that standard output holds the result alone. */
export function askOn(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal['ask'] {
  return (question, options = {}) =>
    new Promise((resolve, reject) => {
      const isHidden = options.hidden === true
      // What is typed is echoed by readline, so hiding it is giving readline nowhere to write.
      const echo = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output
      const lines = createInterface({ input, output: echo, terminal: true })
      // The terminal itself no longer shows what is typed, so now is the time to ask.
      if (isHidden) output.write(question)
      else {
        lines.setPrompt(question)
        lines.prompt()
      }
      const entered: string[] = []
      lines.on('line', (line) => {
        entered.push(line)
        // What was pasted comes at once: its other lines would be commands of the shell.
        if (entered.length === 1) setTimeout(() => lines.close(), PASTE_MS)
      })
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => {
        if (isHidden) output.write('\n')
        const [answer, ...more] = entered
        if (answer === undefined) reject(new CommandError('canceled', 130))
        else if (more.length > 0 || lines.line !== '')
          reject(new CommandError('the value has several lines; use --from-file or standard input'))
        else resolve(answer)
      })
    })
}
