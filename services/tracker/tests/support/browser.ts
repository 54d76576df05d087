import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { launchChromium } from '@vault-and-tracker/dev-env'
import { listen } from '@vault-and-tracker/service-kit/http/server'
import type { Browser } from 'playwright-core'

/** A page with the npm package webtorrent, which knows of no STUN server, and of no tracker but those of its torrents. */
export type TorrentPage = {
  /** Addresses of all WebSockets that the page has opened. */
  readonly sockets: string[]
  /** Seeds a torrent whose only file the page has. */
  seed(torrent: Buffer, content: Buffer): Promise<void>
  /** Downloads the only file of a torrent; returns its SHA-256 in hex. */
  download(torrent: Buffer): Promise<string>
}

/** A browser and the site of its pages. */
export type TorrentBrowser = {
  /** Opens a page in a separate profile. */
  openPage(): Promise<TorrentPage>
  stop(): Promise<void>
}

const require = createRequire(import.meta.url)
const HTML = `<!doctype html><title>WebTorrent</title><script type="module">
  import WebTorrent from '/webtorrent.js'
  window.WebTorrent = WebTorrent
</script>`

/** Starts the Chromium of this machine. Its pages come from the loopback: elsewhere they could not connect there. */
export async function startTorrentBrowser(): Promise<TorrentBrowser> {
  const bundle = readFileSync(require.resolve('webtorrent/dist/webtorrent.min.js'))
  const server = createServer((request, response) => {
    const isBundle = request.url === '/webtorrent.js'
    response.setHeader('content-type', isBundle ? 'text/javascript' : 'text/html').end(isBundle ? bundle : HTML)
  })
  const site = await listen(server, { host: '127.0.0.1', port: 0 })
  const browser = await launchChromium([
    // Peers of one machine, which may have no other network, meet at the loopback address.
    '--allow-loopback-in-peer-connection',
    '--disable-features=WebRtcHideLocalIpsWithMdns',
  ])
  return {
    openPage: () => openPage(browser, `http://127.0.0.1:${String(site.port)}/`),
    stop: async () => {
      await browser.close()
      await site.drain()
    },
  }
}

async function openPage(browser: Browser, url: string): Promise<TorrentPage> {
  const page = await (await browser.newContext()).newPage()
  const sockets: string[] = []
  page.on('websocket', (socket) => sockets.push(socket.url()))
  const broken = new Promise<never>((_, reject) => page.on('pageerror', reject))
  broken.catch(() => undefined)
  await page.goto(url)
  await page.waitForFunction('window.WebTorrent !== undefined')
  await page.evaluate(PAGE_FUNCTIONS)
  return {
    sockets,
    seed: async (torrent, content) => {
      const call = `seed('${torrent.toString('base64')}', '${content.toString('base64')}')`
      await Promise.race([page.evaluate(call), broken])
    },
    download: (torrent) => Promise.race([page.evaluate<string>(`download('${torrent.toString('base64')}')`), broken]),
  }
}

/** The script that runs in the page. */
const PAGE_FUNCTIONS = `
  const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  const client = new WebTorrent({ dht: false, tracker: { rtcConfig: { iceServers: [] } } })
  const failed = new Promise((_, reject) => client.on('error', reject))

  window.seed = (torrent, text) => {
    const content = bytesOf(text)
    /** A store of chunks that has all of them. */
    class FullStore {
      constructor(length) { this.chunkLength = length }
      get(index, ...rest) {
        const done = rest.pop()
        const chunk = content.subarray(index * this.chunkLength, (index + 1) * this.chunkLength)
        const { offset = 0, length = chunk.length - offset } = rest[0] ?? {}
        queueMicrotask(() => done(null, chunk.slice(offset, offset + length)))
      }
      put(index, bytes, done) { done(null) }
      close(done) { done(null) }
      destroy(done) { done(null) }
    }
    const seeding = new Promise((done) => {
      const added = client.add(bytesOf(torrent), { store: FullStore }, () => {
        if (added.done) done()
        else added.once('done', done)
      })
    })
    return Promise.race([seeding, failed])
  }

  window.download = (torrent) => {
    const downloaded = new Promise((done) => client.add(bytesOf(torrent), (added) => {
      added.once('done', () => done(added.files[0]))
    })).then(async (file) => {
      const hash = await crypto.subtle.digest('SHA-256', await (await file.blob()).arrayBuffer())
      return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
    })
    return Promise.race([downloaded, failed])
  }
`
