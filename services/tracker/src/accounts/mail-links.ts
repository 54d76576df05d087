import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { apiError } from '../errors.ts'
import type { Mail, Outbox } from '../mail/outbox.ts'
import type { Account, Passwords } from './accounts.ts'

/** What a link does: it lets a user set a new password, or confirms the new address of an account. */
export type MailLinkKind = 'password' | 'email'

const MINUTE_MS = 60_000
/** A link works this long. */
const LINK_MS = 30 * MINUTE_MS
/** A user receives one link of a kind in this time. */
const PAUSE_MS = 5 * MINUTE_MS

export type NewMailLink = {
  readonly kind: MailLinkKind
  readonly tokenHash: Buffer
  /** The address that receives it. */
  readonly email: string
  readonly at: Date
  /** The user receives none if the last one is later. */
  readonly notAfter: Date
}

/** Links sent by email, one per user and kind. Each ends with the session epoch of its request. */
export type MailLinkStore = {
  /** Adds a link for the active user with this address. @returns undefined if there is none, or none is due */
  addForAddress(link: NewMailLink): Promise<Pick<Account, 'username' | 'email'> | undefined>
  /** Adds a link for a user who wants this address. @returns false if none is due, or someone has the address */
  addForUser(userId: string, link: NewMailLink): Promise<boolean>
  /** Whether a link still works. */
  works(kind: MailLinkKind, tokenHash: Buffer, since: Date): Promise<boolean>
  /** Uses a link: sets the password and ends all sessions. @returns false if it does not work any more */
  setPassword(tokenHash: Buffer, since: Date, passwordHash: string): Promise<boolean>
  /**
   * Uses a link: sets the address.
   *
   * @returns the user with the old address; undefined if the link does not work any more
   * @throws ApiError CONFLICT if someone has the address now
   */
  setEmail(tokenHash: Buffer, since: Date): Promise<{ username: string; oldEmail: string; email: string } | undefined>
}

export type MailLinks = ReturnType<typeof createMailLinks>

/** Password resets and confirmations of addresses by email. @param deps without an `outbox`, the site sends no email */
export function createMailLinks(deps: {
  store: MailLinkStore
  outbox: Outbox | undefined
  passwords: Pick<Passwords, 'hash'>
  publicUrl: string
  siteName: () => Promise<string>
  clock: Clock
}) {
  const { store, outbox, passwords, publicUrl, clock } = deps
  const since = (): Date => new Date(clock.now() - LINK_MS)

  function requireOutbox(): Outbox {
    if (outbox === undefined) throw apiError('CONFLICT', 'This site sends no email. Ask an administrator.')
    return outbox
  }

  function newLink(kind: MailLinkKind, email: string): NewMailLink & { readonly token: string } {
    const token = randomBytes(32).toString('base64url')
    const [at, notAfter] = [new Date(clock.now()), new Date(clock.now() - PAUSE_MS)]
    return { kind, email, at, notAfter, token, tokenHash: hashToken(token) }
  }

  async function mailTo(to: string, username: string, subject: string, lines: readonly string[]): Promise<Mail> {
    const site = await deps.siteName()
    return { to, subject: `${subject} · ${site}`, text: [`Hello ${username},`, ...lines, site, ''].join('\n\n') }
  }

  /** Sends a message about something that has happened already, so it must not fail because many emails wait. */
  function tell(to: string, username: string, subject: string, lines: readonly string[]): void {
    if (outbox !== undefined && outbox.room() > 0) outbox.add(() => mailTo(to, username, subject, lines))
  }

  return {
    /**
     * Sends a link for a new password to the user with this address. The caller cannot tell whether there is one: finding
     * out happens later.
     *
     * @throws ApiError CONFLICT if the site sends no email, UNAVAILABLE
     */
    requestPassword(email: string): void {
      requireOutbox().add(async () => {
        const { token, ...link } = newLink('password', email)
        const user = await store.addForAddress(link)
        if (user === undefined) return undefined
        return mailTo(user.email, user.username, 'Set a new password', [
          'Open this link within 30 minutes to set a new password. It works once.',
          // Browsers send no fragment to servers, so no log contains the token.
          `${publicUrl}/reset#${token}`,
          'If you did not ask for this, ignore this email. Your password stays the same.',
        ])
      })
    },

    /** Sets a new password and ends all sessions. @throws ApiError CONFLICT if the link does not work any more */
    async resetPassword(token: string, next: string): Promise<void> {
      const tokenHash = hashToken(token)
      // Before the hash, which is costly.
      const works = await store.works('password', tokenHash, since())
      if (!works || !(await store.setPassword(tokenHash, since(), await passwords.hash(next)))) throw endedLink()
    },

    /** Sends a link to the new address of an account. @throws ApiError CONFLICT if the site sends no email, UNAVAILABLE */
    requestEmail({ id, username }: Account, email: string): void {
      requireOutbox().add(async () => {
        const { token, ...link } = newLink('email', email)
        if (!(await store.addForUser(id, link))) return undefined
        return mailTo(email, username, 'Confirm your email address', [
          'Open this link within 30 minutes to use this address for your account.',
          `${publicUrl}/confirm-email#${token}`,
          'If you did not ask for this, ignore this email.',
        ])
      })
    },

    /** Sets the confirmed address, and tells the old one. @throws ApiError CONFLICT */
    async confirmEmail(token: string): Promise<void> {
      const changed = await store.setEmail(hashToken(token), since())
      if (changed === undefined) throw endedLink()
      const { username, oldEmail } = changed
      tell(oldEmail, username, 'Your email address has changed', [
        'Your account no longer uses this address. If you did not change it, contact the staff of the site at once.',
      ])
    },

    /** Tells a user that staff removed their second factor. */
    tellFactorsRemoved({ username, email }: Account): void {
      tell(email, username, 'Your second factor was removed', [
        'An administrator removed your second factor: your password alone is enough to sign in.',
        'If you did not ask for this, change your password and add a new second factor:',
        `${publicUrl}/me?tab=security`,
      ])
    },
  }
}

function endedLink(): Error {
  return apiError('CONFLICT', 'This link has been used or has expired. Request a new one.')
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
