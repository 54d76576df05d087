import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { infoHashOf, placeOf, portOf } from './numbering.ts'
import type { Target } from './servers.ts'

/** Announces every peer once over HTTP, for trackers whose swarms cannot be filled otherwise. */
export async function populateOverHttp(
  target: Target,
  size: { torrents: number; peers: number; keepAlive: boolean },
): Promise<void> {
  const agent = new Agent({ keepAlive: size.keepAlive, maxSockets: 32 })
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < size.peers) {
      const p = next
      next += 1
      await insist(() => announce(target.url, agent, p, size.torrents))
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
  agent.destroy()
}

/** A server may close a connection just as it is used again, or be out of room for a moment. */
async function insist(send: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await send()
      return
    } catch (error) {
      if (attempt === 10) throw error
      await sleep(20 * attempt)
    }
  }
}

function announce(url: string, agent: Agent, p: number, torrents: number): Promise<void> {
  const { t, k } = placeOf(p, torrents)
  const hash = [...infoHashOf(t)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const path =
    `/announce?info_hash=${hash}&peer_id=-qB4650-${String(p).padStart(12, '0')}&port=${String(portOf(k))}` +
    `&uploaded=0&downloaded=0&left=${p % 3 === 0 ? '0' : '1048576'}&event=started&numwant=0&compact=1`
  return new Promise((resolve, reject) => {
    const message = request(url + path, { agent, timeout: 5_000 }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    message.on('error', reject)
    message.on('timeout', () => message.destroy(new Error('no answer')))
    message.end()
  })
}
