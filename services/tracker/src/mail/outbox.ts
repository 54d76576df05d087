import { setTimeout as sleep } from 'node:timers/promises'
import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { apiError } from '../errors.ts'

/** A plain-text email. */
export type Mail = { readonly to: string; readonly subject: string; readonly text: string }

/** Hands an email over to the SMTP server. @throws if the server does not accept it */
export type SendMail = (mail: Mail) => Promise<void>

/** Emails that wait in this process. Those that are lost when it stops can be requested again. */
const MAX_WAITING = 500
const CONCURRENT = 2
/** An email is tried again after these times. */
const RETRY_AFTER_MS: readonly number[] = [5_000, 60_000, 300_000]

export type Outbox = ReturnType<typeof createOutbox>

/** A bounded queue of emails, so that no request waits for a mail server. */
export function createOutbox(deps: {
  send: SendMail
  onFailure: (error: unknown) => void
  /** Times to wait before further attempts. */
  retryAfterMs?: readonly number[]
}) {
  const { send, onFailure, retryAfterMs = RETRY_AFTER_MS } = deps
  const inTurn = createTurns(CONCURRENT)
  const stopping = new AbortController()
  const waiting = new Set<Promise<void>>()

  async function deliver(create: () => Promise<Mail | undefined>): Promise<void> {
    let mail: { readonly created: Mail | undefined } | undefined
    for (const waitMs of [0, ...retryAfterMs]) {
      if (waitMs > 0) await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      try {
        await inTurn(async () => {
          if (stopping.signal.aborted) return
          mail ??= { created: await create() }
          if (mail.created !== undefined) await send(mail.created)
        })
        return
      } catch (error) {
        onFailure(error)
      }
    }
  }

  return {
    /** How many more emails may wait. */
    room: (): number => MAX_WAITING - waiting.size,

    /**
     * Sends an email soon.
     *
     * @param create creates it, or returns undefined to send none; runs later, so that the caller takes the same time in
     *   both cases
     * @throws ApiError UNAVAILABLE if too many wait
     */
    add(create: () => Promise<Mail | undefined>): void {
      if (waiting.size >= MAX_WAITING) throw apiError('UNAVAILABLE', 'Too many emails are waiting. Try again later.')
      const delivering = deliver(create).finally(() => waiting.delete(delivering))
      waiting.add(delivering)
    },

    /** Waits for the attempts in progress, and gives up all other emails, so that the service stops in time. */
    async stop(): Promise<void> {
      stopping.abort()
      await Promise.all(waiting)
    },
  }
}
