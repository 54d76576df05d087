import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Nginx } from './nginx.ts'

/** So long nginx stands still when a connection is about to end: requests are there before the end of the connection is. */
const STANDSTILL_MS = 150

/** Both sides keep idle connections for this part of the time of production, so that many ends are met in a short test. */
export const IDLE_SCALE = 1 / 30
/** For how long nginx keeps an idle connection in such a test: by default it is a minute. */
export const NGINX_KEEPS_MS = 60_000 * IDLE_SCALE
/** How often the end of each side is met. */
export const IDLE_ROUNDS = 3

/** For how long an HTTP server on the loopback keeps a connection that is idle after a request, in milliseconds. */
async function idleTimeOf(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'data')
  const answeredAt = Date.now()
  socket.resume()
  await once(socket, 'end')
  return Date.now() - answeredAt
}

/**
 * Has requests race against the end of the idle connections that nginx keeps to a service: it stands still while they
 * come and while those connections end, and then finds both in the order in which they came.
 *
 * @param port of the service, which is asked for how long it keeps a connection
 * @param prepare makes the requests of a round ready to be sent; one that nginx may not repeat shows a loss
 * @returns how often each outcome came: of one round that opens the connections, and of two for each of `IDLE_ROUNDS`
 */
export async function meetIdleEnds(
  nginx: Nginx,
  port: number,
  prepare: () => Promise<readonly (() => Promise<string>)[]>,
): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  const endsMs = [NGINX_KEEPS_MS, await idleTimeOf(port)]
  const count = async (answers: Promise<readonly string[]>): Promise<void> => {
    for (const outcome of await answers) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
  }
  const sendAll = async (): Promise<() => Promise<readonly string[]>> => {
    const requests = await prepare()
    return () => Promise.all(requests.map((send) => send()))
  }
  // The first requests open the connections.
  await count((await sendAll())())
  for (const endMs of Array.from({ length: IDLE_ROUNDS }, () => endsMs).flat()) {
    const send = await sendAll()
    await sleep(endMs - STANDSTILL_MS / 2)
    nginx.pause()
    const answers = send()
    await sleep(STANDSTILL_MS)
    nginx.resume()
    await count(answers)
  }
  return outcomes
}
