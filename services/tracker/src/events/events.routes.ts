import type { ServerResponse } from 'node:http'
import { StreamAnswer } from '@vault-and-tracker/rest'
import { endpoints, type SignedInUser } from '../surface.ts'
import type { EventStreams, StreamClient } from './event-streams.ts'

/** The session, or the API token if it has a scope, that opened a stream. */
export type Credential = Pick<SignedInUser, 'scope' | 'address'> & { readonly tokenHash: string }

/** A client that leaves more unread is disconnected. A page of events is written at once, and is smaller. */
const MAX_UNREAD_BYTES = 128 * 1024

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  // nginx would keep events until its buffer is full.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
}

/** The stream of new torrents. */
export const eventEndpoints = [
  endpoints<{
    eventStreams: EventStreams
    /** Whether the session or API token of an earlier request would still be admitted. */
    isAdmitted: (credential: Credential) => Promise<boolean>
  }>()({
    tag: 'torrents',
    access: 'member',
    limit: 'read',
    method: 'GET',
    path: '/api/events',
    operationId: 'streamEvents',
    summary:
      'Stream each new torrent when it is approved, as server-sent events of the type `torrent`; `Last-Event-ID` ' +
      'continues after that event, for a week and up to 1,000 events; `missed` comes first if there may be others',
    answerTypes: ['text/event-stream'],
    handle: async ({ caller }, { eventStreams, isAdmitted }) => {
      await eventStreams.prepare()
      // Lasting streams do not retain the account.
      const { session, scope, address } = caller
      const credential = { tokenHash: session.tokenHash, scope, address }
      const user = { userId: session.account.id, isValid: () => isAdmitted(credential) }
      return new StreamAnswer(HEADERS, (response) => {
        const [id] = /^\d{1,15}$/.exec(String(response.req.headers['last-event-id'])) ?? []
        eventStreams.open(clientOf(response), user, id === undefined ? undefined : Number(id))
      })
    },
  }),
]

/** A response as the client of a stream. */
export function clientOf(response: ServerResponse): StreamClient {
  return {
    isOpen: () => !response.destroyed && !response.writableEnded,
    write: (text) => {
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy()
      else response.write(text)
    },
    drained: () =>
      new Promise((resolve) => {
        if (response.destroyed || !response.writableNeedDrain) resolve()
        else response.once('drain', resolve).once('close', resolve)
      }),
    onClose: (callback) => {
      const { socket } = response.req
      if (response.destroyed) callback()
      else response.once('close', callback)
      // The server lets clients close their half of a connection after a request, which here means that they have left.
      if (socket.readableEnded) response.destroy()
      else socket.once('end', () => response.destroy())
    },
    end: () => response.end(),
  }
}
