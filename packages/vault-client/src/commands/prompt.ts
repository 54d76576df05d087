import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CommandError, type Terminal } from './terminal.ts'

/** Questions on a terminal: written to standard error, so that standard output holds the result alone. */
export function askOn(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal['ask'] {
  return (question, options = {}) =>
    new Promise((resolve, reject) => {
      output.write(question)
      const isHidden = options.hidden === true
      // What is typed is echoed by readline, so hiding it is giving readline nowhere to write.
      const echo = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output
      const lines = createInterface({ input, output: echo, terminal: true })
      let isAnswered = false
      lines.once('line', (line) => {
        isAnswered = true
        lines.close()
        resolve(line)
      })
      lines.once('SIGINT', () => lines.close())
      lines.once('close', () => {
        if (isHidden) output.write('\n')
        if (!isAnswered) reject(new CommandError('nothing was entered', 130))
      })
    })
}
