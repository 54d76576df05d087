// Loads the web application in Chromium with nothing cached and prints bytes, requests and times. See docs/performance.md.
// Fails where the first route is above its budget of bytes. Usage: pnpm build && pnpm --filter tracker bench:web [torrents] [samples]
import { launchChromium, removeTemporaryFolder, temporaryFolder } from '@vault-and-tracker/dev-env'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { median } from './median.ts'
import { startSearchWorld } from './search-world.ts'
import { startOurs } from './servers.ts'
import { machine } from './world.ts'

const torrents = Number(process.argv[2] ?? 1_000_000)
const samples = Number(process.argv[3] ?? 10)

/** The most of a first route, in bytes on the wire. */
const BUDGET = { script: 120_000, bytes: 200_000 }

/** What a cold load took. Bytes are those on the wire, headers included; times are in milliseconds. */
type Load = { script: number; bytes: number; requests: number; dataRequests: number; listAfter: number }

const folder = temporaryFolder('bench')
const world = await startSearchWorld(folder, torrents)
const service = await startOurs({ ...world, workers: 1, env: { REST_READ_LIMIT: '0', AUTH_LIMIT: '0' } })
const browser = await launchChromium()
try {
  const cookie = await signIn(service.url)
  const loads: Load[] = []
  for (let n = 0; n < samples; n += 1) loads.push(await coldLoad(browser, service.url, cookie))
  const answers = await typeAndWait(browser, service.url, cookie)
  const [first] = loads
  if (first === undefined || first.script > BUDGET.script || first.bytes > BUDGET.bytes) process.exitCode = 1
  process.stdout.write(
    [
      `${new Date().toISOString().slice(0, 10)}, ${machine()}, ${torrents.toLocaleString('en')} torrents, nothing cached`,
      '',
      `| First route                         |        |`,
      `| ----------------------------------- | -----: |`,
      `| script, kB on the wire, at most 120 | ${kilobytes(first?.script)} |`,
      `| all, kB on the wire, at most 200    | ${kilobytes(first?.bytes)} |`,
      `| requests                            | ${String(first?.requests).padStart(6)} |`,
      `| of these, for data                  | ${String(first?.dataRequests).padStart(6)} |`,
      `| list visible after, ms, median      | ${milliseconds(median(loads.map(({ listAfter }) => listAfter)))} |`,
      `| list visible after, ms, slowest     | ${milliseconds(Math.max(...loads.map(({ listAfter }) => listAfter)))} |`,
      `| answer while typing, ms, median     | ${milliseconds(median(answers))} |`,
      `| answer while typing, ms, slowest    | ${milliseconds(Math.max(...answers))} |`,
      '',
    ].join('\n'),
  )
} finally {
  await browser.close()
  await service.stop()
  await world.stop()
  removeTemporaryFolder(folder)
}

async function signIn(url: string): Promise<string> {
  const { username, password } = world
  const answer = await fetch(`${url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const token = /^session=([^;]*)/.exec(answer.headers.getSetCookie()[0] ?? '')?.[1]
  if (token === undefined) throw new Error(`could not sign in: ${await answer.text()}`)
  return token
}

async function openSignedIn(browser: Browser, url: string, cookie: string): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies([{ name: 'session', value: cookie, url, httpOnly: true }])
  return [context, await context.newPage()]
}

async function coldLoad(browser: Browser, url: string, cookie: string): Promise<Load> {
  const [context, page] = await openSignedIn(browser, url, cookie)
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
  await page.goto(`${url}/torrents`)
  await page.locator('tbody .row-link').first().waitFor()
  const listAfter = await page.evaluate<number>('performance.now()')
  await page.waitForLoadState('networkidle')
  await context.close()
  return { ...load, listAfter }
}

/** Types words letter by letter; the time of each answer of the list, from its request to its last byte. */
async function typeAndWait(browser: Browser, url: string, cookie: string): Promise<number[]> {
  const [context, page] = await openSignedIn(browser, url, cookie)
  await page.goto(`${url}/torrents`)
  await page.locator('tbody .row-link').first().waitFor()
  const words = (await page.locator('tbody .row-link').first().textContent())?.split(/[._ -]+/).slice(0, 2) ?? []
  await page.evaluate('performance.clearResourceTimings()')
  await page.getByLabel('Search torrents').pressSequentially(words.join(' ').toLowerCase(), { delay: 250 })
  await page.waitForLoadState('networkidle')
  const times = await page.evaluate<number[]>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.includes('search=')).map(({ duration }) => duration)`,
  )
  await context.close()
  return times
}

function kilobytes(bytes = Number.NaN): string {
  return (bytes / 1_000).toFixed(1).padStart(6)
}

function milliseconds(time: number): string {
  return time.toFixed(0).padStart(6)
}
