import { eventually } from '@vault-and-tracker/dev-env'

/** An event as a client of the stream receives it. */
export type ReceivedEvent = { readonly id: number; readonly name: string; readonly uploader: string | null }

/** A client of `GET /api/events`. */
export type EventReader = {
  readonly status: number
  readonly headers: Headers
  /** All events so far. */
  readonly events: readonly ReceivedEvent[]
  /** The id with which an EventSource would come back. */
  lastId(): number
  names(): readonly string[]
  /** The data of the events `missed`. */
  missed(): readonly string[]
  /** Whether the server has ended the stream. */
  isEnded(): boolean
  close(): void
}

/** Opens a stream and reads it as an EventSource does (HTML, section 9.2.6). */
export async function openEvents(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const closing = new AbortController()
  const response = await fetch(`${url}/api/events`, { headers, signal: closing.signal })
  const events: ReceivedEvent[] = []
  const missed: string[] = []
  let [lastId, isEnded, text] = [-1, false, '']
  const take = (block: string): void => {
    const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^\w+: /, '')]))
    const id = fields.get('id')
    if (id !== undefined) lastId = Number(id)
    const data = fields.get('data')
    if (fields.get('event') === 'torrent' && data !== undefined)
      events.push({ ...(JSON.parse(data) as ReceivedEvent), id: lastId })
    if (fields.get('event') === 'missed') missed.push(data ?? '')
  }
  const read = async (): Promise<void> => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      blocks.forEach(take)
    }
  }
  void read()
    .catch(() => undefined)
    .then(() => (isEnded = true))
  if (response.ok) await eventually(() => lastId >= 0 || isEnded)
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastId: () => lastId,
    names: () => events.map(({ name }) => name),
    missed: () => missed,
    isEnded: () => isEnded,
    close: () => closing.abort(),
  }
}
