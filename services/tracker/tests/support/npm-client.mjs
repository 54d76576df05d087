// Announces and scrapes with the client of the npm package bittorrent-tracker; prints the results as JSON.
// Its WebRTC parts need a native build that plain HTTP has no use for, so that module is replaced by an empty one.
import { once } from 'node:events'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  if (!/^(webrtc-polyfill|node-datachannel)/.test(specifier)) return next(specifier, context)
  const source =
    'export const RTCPeerConnection = null, RTCSessionDescription = null, RTCIceCandidate = null; export default {}'
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true }
}

if (isMainThread) {
  register(import.meta.url)
  const { default: Client } = await import('bittorrent-tracker/client')
  const [announce = '', infoHash = '', peerId = '', port] = process.argv.slice(2)
  const client = new Client({ announce, infoHash, peerId, port: Number(port) })
  /** @type {string[]} */
  const warnings = []
  client.on('warning', (/** @type {Error} */ error) => warnings.push(error.message))
  /** @param {string} event */
  const reply = async (event) => {
    /** @type {Record<string, number>[]} */
    const [{ complete, incomplete, downloaded } = {}] = await once(client, event)
    return { complete, incomplete, downloaded }
  }
  /** @type {string[]} */
  const peers = []
  client.on('peer', (/** @type {string} */ address) => peers.push(address))
  client.start({ left: 1000, uploaded: 0, downloaded: 0 })
  const started = await reply('update')
  client.scrape()
  const scraped = await reply('scrape')
  client.complete({ left: 0, uploaded: 0, downloaded: 1000 })
  const completed = await reply('update')
  client.stop({ left: 0, uploaded: 0, downloaded: 1000 })
  const stopped = await reply('update')
  client.destroy()
  process.stdout.write(JSON.stringify({ started, scraped, completed, stopped, peers, warnings }))
}
