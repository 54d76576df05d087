import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually, sourceArguments } from '@vault-and-tracker/dev-env'

/** An email as the server received it; `text` is the whole message, decoded. */
export type ReceivedMail = { readonly from: string; readonly to: readonly string[]; readonly text: string }

/** A real SMTP server in a process of its own. */
export type SmtpServer = {
  readonly url: string
  readonly received: readonly ReceivedMail[]
  /** Waits for the next email to an address, and takes it. */
  next(to: string): Promise<ReceivedMail>
  stop(): Promise<void>
}

const MAIN = fileURLToPath(new URL('smtp-main.ts', import.meta.url))

/** Starts a server on a free port. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const child = spawn(process.execPath, sourceArguments(MAIN), { stdio: ['pipe', 'pipe', 'inherit'] })
  const received: ReceivedMail[] = []
  let port: number | undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as { port: number } | ReceivedMail
    if ('port' in message) port = message.port
    else received.push({ ...message, text: decodeText(message.text) })
  })
  await eventually(() => port !== undefined)
  return {
    url: `smtp://127.0.0.1:${String(port)}`,
    received,
    next: async (to) => {
      const isMine = (mail: ReceivedMail): boolean => mail.to.includes(to)
      await eventually(() => received.some(isMine))
      const [mail] = received.splice(received.findIndex(isMine), 1)
      if (mail === undefined) throw new Error('no email')
      return mail
    },
    stop: async () => {
      child.stdin.end()
      await once(child, 'exit')
    },
  }
}

/** Undoes quoted-printable (RFC 2045 section 6.7), which long lines need. */
function decodeText(message: string): string {
  if (!/^content-transfer-encoding: quoted-printable/im.test(message)) return message
  const bytes = message
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** The token of the link in an email. */
export function tokenIn({ text }: ReceivedMail): string {
  const [, token] = /#([\w-]{43})/.exec(text) ?? []
  if (token === undefined) throw new Error(`no link in ${text}`)
  return token
}
