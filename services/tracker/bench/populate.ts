import { Agent, request } from 'node:http'
import { infoHashOf, placeOf, portOf } from './numbering.ts'
import type { Target } from './servers.ts'

/** Announces every peer once over HTTP, for trackers whose swarms cannot be filled otherwise. */
export async function populateOverHttp(target: Target, size: { torrents: number; peers: number }): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < size.peers) {
      const p = next
      next += 1
      // A server may close a connection just as it is used again.
      await announce(target.url, agent, p, size.torrents).catch(() => announce(target.url, agent, p, size.torrents))
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
  agent.destroy()
}

function announce(url: string, agent: Agent, p: number, torrents: number): Promise<void> {
  const { t, k } = placeOf(p, torrents)
  const hash = [...infoHashOf(t)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const path =
    `/announce?info_hash=${hash}&peer_id=-qB4650-${String(p).padStart(12, '0')}&port=${String(portOf(k))}` +
    `&uploaded=0&downloaded=0&left=${p % 3 === 0 ? '0' : '1048576'}&event=started&numwant=0&compact=1`
  return new Promise((resolve, reject) => {
    const message = request(url + path, { agent }, (response) => {
      response.resume()
      response.on('end', resolve)
    })
    message.on('error', reject)
    message.end()
  })
}
