import { createTransport } from 'nodemailer'
import type { SendMail } from './outbox.ts'

/** Within the time that a service has to stop. */
const TIMEOUT_MS = 8_000

/**
 * Sends emails to an SMTP server, over one connection at a time.
 *
 * @param options `url` with the scheme smtp (STARTTLS if offered) or smtps. With a user, TLS is required, so that nobody
 *   on the way reads the password
 */
export function createSmtpSender({ url, from }: { url: string; from: string }): SendMail {
  const { protocol, hostname, port, username, password } = new URL(url)
  const isSecure = protocol === 'smtps:'
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    requireTLS: username !== '',
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    dnsTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ to, subject, text }) => {
    // As an object, so that a comma in an address does not separate two recipients.
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
  }
}
