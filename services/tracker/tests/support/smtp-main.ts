// An SMTP server in a process of its own. Prints its port, then each message that it accepts, as lines of JSON. It refuses
// recipients at refused.example.org.
import { SMTPServer } from 'smtp-server'

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onRcptTo: ({ address }, _session, done) => {
    done(address.endsWith('@refused.example.org') ? new Error('no such mailbox') : undefined)
  },
  onData: (stream, { envelope }, done) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const to = envelope.rcptTo.map(({ address }) => address)
      const { mailFrom } = envelope
      process.stdout.write(
        `${JSON.stringify({ from: mailFrom && mailFrom.address, to, text: Buffer.concat(chunks).toString() })}\n`,
      )
      done()
    })
  },
})
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address()
  if (typeof address === 'object') process.stdout.write(`${JSON.stringify({ port: address?.port })}\n`)
})
// Ends with its parent.
process.stdin.resume().on('end', () => process.exit(0))
