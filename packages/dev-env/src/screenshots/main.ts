import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { launchChromium } from '../testing/visit.ts'
import type { Demo } from '../world/demo.ts'
import { jsonOf, signIn } from '../world/http.ts'

// `pnpm screenshots`, while `npm start` runs: takes the pictures of the documentation from the demo. Each page of the
// tracker is taken in two widths and both themes.

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const FOLDER = join(ROOT, 'docs/images')
const QUALITY = 72
const SIZES = { 1280: 800, 390: 844 } as const
const THEMES = ['light', 'dark'] as const
const SETTLE_MS = 400

/** The pages of the tracker: name, path, and who is signed in. */
const PAGES = [
  ['sign-in', '/login', undefined],
  ['welcome', '/welcome', 'alice'],
  ['torrents', '/torrents', 'alice'],
  ['torrent', '/torrents/{torrent}', 'alice'],
  ['upload', '/upload', 'alice'],
  ['statistics', '/me', 'alice'],
  ['notices', '/notices', 'alice'],
  ['overview', '/admin', 'admin'],
  ['moderation', '/admin/moderation', 'admin'],
  ['users', '/admin/users', 'admin'],
  ['torznab', '/admin/torznab?tab=statistics', 'admin'],
  ['site', '/admin/site', 'admin'],
] as const
const CONSOLE_PAGES = [
  ['overview', '/console'],
  ['project', '/console/projects/demo'],
  ['audit', '/console/audit'],
] as const

const dataDir = resolve(process.env['DATA_DIR'] ?? join(ROOT, '.data'))
const { vault, tracker } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo
mkdirSync(FOLDER, { recursive: true })
const browser = await launchChromium()
try {
  await takeTracker()
  await takeConsole()
} finally {
  await browser.close()
}

async function takeTracker(): Promise<void> {
  const cookies = new Map<string | undefined, string>()
  for (const { username, password } of tracker.users)
    cookies.set(username, (await signIn(tracker.url, username, password)) ?? '')
  const torrent = await showcase(cookies.get('alice') ?? '')
  for (const [name, path, user] of PAGES)
    for (const width of [1280, 390] as const)
      for (const theme of THEMES) {
        const context = await contextOf(width, theme)
        const [, session] = (cookies.get(user) ?? '').split('=')
        if (session) await context.addCookies([{ name: 'session', value: session, url: tracker.url }])
        const page = await context.newPage()
        await page.goto(tracker.url + path.replace('{torrent}', torrent), { waitUntil: 'networkidle' })
        await save(page, `tracker-${name}-${width}-${theme}`)
        await context.close()
      }
}

/** The id of a torrent with several releases. */
async function showcase(cookie: string): Promise<string> {
  const found = await fetch(`${tracker.url}/api/torrents?search=nosferatu&limit=1`, { headers: { cookie } })
  const { items } = (await jsonOf(found)) as { items: { id: string }[] }
  return items[0]?.id ?? tracker.torrentId
}

async function takeConsole(): Promise<void> {
  for (const [name, path] of CONSOLE_PAGES) {
    const context = await contextOf(1280, 'light')
    const page = await context.newPage()
    await page.goto(vault.url + path)
    await page.getByLabel('Admin token').fill(vault.adminToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.waitForLoadState('networkidle')
    await save(page, `vault-${name}`)
    await context.close()
  }
}

function contextOf(width: keyof typeof SIZES, colorScheme: (typeof THEMES)[number]): Promise<BrowserContext> {
  return browser.newContext({ viewport: { width, height: SIZES[width] }, colorScheme, reducedMotion: 'reduce' })
}

/** WebP files are a third as large as PNG files. */
async function save(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS)
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY })
  writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(data, 'base64'))
  console.log(name)
}
