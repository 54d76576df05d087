import { type Audience, createAudience, type Listener } from './audience.ts'
import type { Events, TorrentEvent } from './events.ts'

/** The client of a stream. */
export type StreamClient = {
  isOpen(): boolean
  /** Sends text, or closes the connection if too much is unread. */
  write(text: string): void
  /** Resolves when the client has read enough for more, or has left. */
  drained(): Promise<void>
  /** Calls back once, when the client has left. */
  onClose(callback: () => void): void
  end(): void
}

export type EventStreams = ReturnType<typeof createEventStreams>

const BOUNDS = { perUser: 5, total: 2_000 }
/** A client that was away longer misses the events before these. */
const MAX_REPLAYED = 1_000
/** Clients come back in this time after a restart, not all at once. */
const RETRY_MS = { least: 1_000, spread: 4_000 }

/** Streams of events in the format of server-sent events (HTML, section 9.2). */
export function createEventStreams(deps: { events: Events; random: () => number }) {
  const { events } = deps
  const audience: Audience = createAudience(BOUNDS)
  events.listen((read) => {
    for (const event of read) audience.send(format(event), event.id)
  })

  return {
    /** Lets a client that opens a stream right afterwards miss no event. */
    prepare: events.refresh,

    /**
     * Sends the events after an id, then each new one. `missed` precedes them if there may have been others.
     *
     * @param lastId the last event that the client knows; undefined for new events only
     * @throws ApiError UNAVAILABLE if there are too many clients
     */
    open(client: StreamClient, user: Pick<Listener, 'userId' | 'isValid'>, lastId: number | undefined): void {
      const newest = events.last()
      // A higher id is from a database that was restored since.
      const from = lastId === undefined ? newest : Math.min(newest, Math.max(lastId, newest - MAX_REPLAYED))
      let sent = from
      let isLive = false
      const sendNew = (text: string, id: number): void => {
        if (id <= sent) return
        sent = id
        client.write(text)
      }
      const listener: Listener = {
        ...user,
        send: (text, id) => {
          if (id === undefined) client.write(text)
          else if (isLive) sendNew(text, id)
        },
        end: () => client.end(),
      }
      audience.join(listener)
      client.onClose(() => audience.leave(listener))
      // A client that loses its connection before the first event comes back with this id.
      client.write(`retry: ${RETRY_MS.least + Math.floor(deps.random() * RETRY_MS.spread)}\nid: ${from}\n\n`)
      const replay = async (): Promise<void> => {
        if (lastId !== undefined && (lastId !== from || (lastId < newest && (await events.hasExpired(lastId)))))
          client.write(`event: missed\ndata: {"after":${lastId}}\n\n`)
        let cursor = from
        while (client.isOpen()) {
          const newest = events.last()
          isLive = cursor >= newest
          if (isLive) return
          const page = await events.page(cursor)
          for (const event of page?.events ?? []) sendNew(format(event), event.id)
          cursor = page?.until ?? newest
          await client.drained()
        }
      }
      // After an outage of Postgres, it comes back and continues after the last event that it received.
      replay().catch(() => client.end())
    },

    /** Keeps connections open in proxies, and ends those whose credential has ended. */
    async beat(): Promise<void> {
      audience.send(':\n\n')
      await audience.check()
    },

    check: (userId?: string): Promise<void> => audience.check(userId),
    size: (): number => audience.size(),
    drain: (): void => audience.drain(),
  }
}

function format({ id, torrent }: TorrentEvent): string {
  return `id: ${id}\nevent: torrent\ndata: ${JSON.stringify(torrent)}\n\n`
}
