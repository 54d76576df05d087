// Announces and scrapes with the client of the npm package bittorrent-tracker; prints what it says as JSON.
// Its WebRTC parts need a native build that plain HTTP has no use for, so that module is replaced by an empty one.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

export function resolve(specifier, context, next) {
  if (!/^(webrtc-polyfill|node-datachannel)/.test(specifier)) return next(specifier, context)
  const source =
    'export const RTCPeerConnection = null, RTCSessionDescription = null, RTCIceCandidate = null; export default {}'
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true }
}

if (isMainThread) {
  register(import.meta.url)
  const { default: Client } = await import('bittorrent-tracker/client')
  const [announce, infoHash, peerId, port] = process.argv.slice(2)
  const client = new Client({ announce, infoHash, peerId, port: Number(port) })
  const warnings = []
  client.on('warning', (error) => warnings.push(error.message))
  const reply = (event) =>
    new Promise((done, fail) => {
      client.once(event, (data) => done(data))
      client.once('error', fail)
    })
  const said = ({ complete, incomplete, downloaded }) => ({ complete, incomplete, downloaded })
  const peers = []
  client.on('peer', (address) => peers.push(address))
  const result = {}
  client.start({ left: 1000, uploaded: 0, downloaded: 0 })
  result.started = said(await reply('update'))
  client.scrape()
  result.scraped = said(await reply('scrape'))
  client.complete({ left: 0, uploaded: 0, downloaded: 1000 })
  result.completed = said(await reply('update'))
  client.stop({ left: 0, uploaded: 0, downloaded: 1000 })
  result.stopped = said(await reply('update'))
  client.destroy()
  process.stdout.write(JSON.stringify({ ...result, peers, warnings }))
}
