// Announces and scrapes over a WebSocket with the client of the npm package bittorrent-tracker; prints the results as
// JSON. A stub of WebRTC creates the offers, because only the messages to the tracker are tested.
import { EventEmitter } from 'node:events'
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, next) {
  if (!specifier.startsWith('@thaunknown/simple-peer')) return next(specifier, context)
  const source = 'export default globalThis.StandInPeer'
  return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true }
}

/** Makes an offer at once, and answers one at once. */
class StandInPeer extends EventEmitter {
  /** @param {{ initiator?: boolean }} options */
  constructor({ initiator } = {}) {
    super()
    if (initiator) setImmediate(() => this.emit('signal', { type: 'offer', sdp: 'v=0 offer' }))
    else this.once('offered', () => this.emit('signal', { type: 'answer', sdp: 'v=0 answer' }))
  }
  /** @param {{ type: string }} description */
  signal({ type }) {
    if (type === 'offer') this.emit('offered')
  }
  destroy() {}
}
Object.assign(globalThis, { StandInPeer })

if (isMainThread) {
  register(import.meta.url)
  const { default: Client } = await import('bittorrent-tracker/client')
  const [first = '', second = '', infoHash = ''] = process.argv.slice(2)
  /** @type {string[]} */
  const warnings = []
  /** @param {string} announce @param {string} peerId */
  const create = (announce, peerId) => {
    const client = new Client({ announce, infoHash, peerId, port: 6881, wrtc: {} })
    client.on('warning', (/** @type {Error} */ error) => warnings.push(error.message))
    return client
  }
  /** @param {InstanceType<typeof Client>} client @param {string} event @returns {Promise<{ id: string } & Record<string, number>>} */
  const heard = (client, event) => new Promise((done) => client.once(event, done))
  /** @param {Record<string, number>} reply */
  const counts = ({ complete, incomplete, downloaded }) => ({ complete, incomplete, downloaded })
  const a = create(first, Buffer.from('-WW0102-aaaaaaaaaaaa').toString('hex'))
  const b = create(second, Buffer.from('-WW0102-bbbbbbbbbbbb').toString('hex'))
  b.start({ left: 1000, uploaded: 0, downloaded: 0 })
  await heard(b, 'update')
  const [offered, answered] = [heard(b, 'peer'), heard(a, 'peer')]
  a.start({ left: 0, uploaded: 0, downloaded: 0 })
  const started = counts(await heard(a, 'update'))
  const offer = (await offered).id
  const answer = (await answered).id
  a.scrape()
  const scraped = counts(await heard(a, 'scrape'))
  b.complete({ left: 0, uploaded: 0, downloaded: 1000 })
  const completed = counts(await heard(b, 'update'))
  b.stop({ left: 0, uploaded: 0, downloaded: 1000 })
  const stopped = counts(await heard(b, 'update'))
  const result = { started, offer, answer, scraped, completed, stopped, warnings }
  process.stdout.write(JSON.stringify(result), () => process.exit(0))
}
