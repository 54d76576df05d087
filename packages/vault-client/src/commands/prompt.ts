import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CommandError, type Terminal } from './terminal.ts'

/** Lines that follow within this time were pasted with the first one. */
const PASTE_MS = 30

/** Asks on standard error, so that standard output contains only the result. */
export function askOn(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal['ask'] {
  return (question, options = {}) =>
    new Promise((resolve, reject) => {
      const isHidden = options.hidden === true
      // Readline echoes what is typed, so a hidden answer needs an output that discards everything.
      const echo = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output
      const lines = createInterface({ input, output: echo, terminal: true })
      // Ask only now that the terminal itself no longer echoes.
      if (isHidden) output.write(question)
      else {
        lines.setPrompt(question)
        lines.prompt()
      }
      const entered: string[] = []
      lines.on('line', (line) => {
        entered.push(line)
        // Read all pasted lines. Otherwise the shell would run the rest as commands.
        if (entered.length === 1) setTimeout(() => lines.close(), PASTE_MS)
      })
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => {
        if (isHidden) output.write('\n')
        const [answer, ...more] = entered
        if (answer === undefined) reject(new CommandError('cancelled', 130))
        else if (more.length > 0 || lines.line !== '')
          reject(new CommandError('the pasted value has several lines; use --from-file or standard input'))
        else resolve(answer)
      })
    })
}
