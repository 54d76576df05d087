// Loads the web application in Chromium without a cache and prints bytes, requests and times. See docs/performance.md.
// Fails if the first route exceeds its budget. Usage: pnpm build && pnpm --filter tracker bench:web [torrents] [samples]
import { launchChromium } from '@vault-and-tracker/dev-env'
import { print, printHead, quantile, whole } from '@vault-and-tracker/dev-env/bench'
import type { BrowserContext, Page } from 'playwright-core'
import { startSearchWorld } from './search-world.ts'
import { startOurs } from './servers.ts'

const torrents = Number(process.argv[2] ?? 1_000_000)
const samples = Number(process.argv[3] ?? 10)

/** The limits of the first route, in bytes on the wire. */
const BUDGET = { script: 120_000, bytes: 200_000 }

/** A mobile connection: 1.6 Mbit/s with a round trip of 150 ms. */
const MOBILE = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 }

/** A cold load. Bytes are on the wire, including headers. */
type Load = { script: number; bytes: number; requests: number; dataRequests: number; listAfterMs: number }

const world = await startSearchWorld(torrents)
const service = await startOurs(world, { env: { REST_READ_LIMIT: '0', AUTH_LIMIT: '0' } })
const browser = await launchChromium()
try {
  const cookie = await world.signIn(service.url, 0)
  const loads: Load[] = []
  for (let n = 0; n < samples; n += 1) loads.push(await coldLoad(cookie))
  const mobile: Load[] = []
  for (let n = 0; n < samples; n += 1) mobile.push(await coldLoad(cookie, MOBILE))
  const answers = await typeAndWait(cookie)
  const [first] = loads
  if (first === undefined || first.script > BUDGET.script || first.bytes > BUDGET.bytes) process.exitCode = 1
  printHead(`${whole(torrents)} torrents, nothing cached`, 'first route', '')
  const times = loads.map(({ listAfterMs }) => listAfterMs)
  const rows = {
    'script, kB on the wire, at most 120': (first?.script ?? Number.NaN) / 1_000,
    'everything, kB on the wire, at most 200': (first?.bytes ?? Number.NaN) / 1_000,
    requests: first?.requests ?? Number.NaN,
    'requests for data': first?.dataRequests ?? Number.NaN,
    'list visible after, ms, median': quantile(times),
    'list visible after, ms, slowest': Math.max(...times),
    'list visible at 1.6 Mbit/s, ms, median': quantile(mobile.map(({ listAfterMs }) => listAfterMs)),
    'answer while typing, ms, median': quantile(answers),
    'answer while typing, ms, slowest': Math.max(...answers),
  }
  for (const [name, value] of Object.entries(rows)) print(name, value.toFixed(name.includes('kB') ? 1 : 0))
} finally {
  await browser.close()
  await service.stop()
  await world.stop()
}

async function openSignedIn(cookie: string): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url: service.url, httpOnly: true }])
  return [context, await context.newPage()]
}

async function openList(page: Page): Promise<void> {
  await page.goto(`${service.url}/torrents`)
  await page.locator('tbody .row-link').first().waitFor()
}

async function coldLoad(cookie: string, network?: typeof MOBILE): Promise<Load> {
  const [context, page] = await openSignedIn(cookie)
  const devtools = await context.newCDPSession(page)
  const scripts = new Set<string>()
  const load = { script: 0, bytes: 0, requests: 0, dataRequests: 0 }
  devtools.on('Network.responseReceived', ({ requestId, type, response }) => {
    load.requests += 1
    if (response.url.includes('/api/')) load.dataRequests += 1
    if (type === 'Script') scripts.add(requestId)
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    load.bytes += encodedDataLength
    if (scripts.has(requestId)) load.script += encodedDataLength
  })
  await devtools.send('Network.enable')
  if (network !== undefined) await devtools.send('Network.emulateNetworkConditions', network)
  await openList(page)
  const listAfterMs = await page.evaluate<number>('performance.now()')
  await page.waitForLoadState('networkidle')
  await context.close()
  return { ...load, listAfterMs }
}

/** Types words letter by letter. Returns the time of each answer of the list. */
async function typeAndWait(cookie: string): Promise<number[]> {
  const [context, page] = await openSignedIn(cookie)
  await openList(page)
  const name = await page.locator('tbody .row-link').first().textContent()
  const words = name?.split(/[._ -]+/).slice(0, 2) ?? []
  await page.evaluate('performance.clearResourceTimings()')
  await page.getByLabel('Search torrents').pressSequentially(words.join(' ').toLowerCase(), { delay: 250 })
  await page.waitForLoadState('networkidle')
  const times = await page.evaluate<number[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes('search=')).map(({ duration }) => duration)`,
  )
  await context.close()
  return times
}
