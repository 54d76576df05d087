import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { launchChromium } from '@vault-and-tracker/dev-env'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Client } from '../../../tests/support/client.ts'
import { makeTorrent } from '../../../tests/support/make-torrent.ts'
import { startTracker, type TestTracker } from '../../../tests/support/tracker.ts'

/** How a page is looked at. */
export type View = { readonly width: 1280 | 390 }

export const DESKTOP: View = { width: 1280 }

/** Every page is walked in each of these, and looked at in both themes. */
export const VIEWS: readonly View[] = [DESKTOP, { width: 390 }]

/** A tracker that serves the built application, and a browser. */
export type Site = {
  readonly tracker: TestTracker
  /** Opens an address as a member who is signed in, or as a visitor. */
  open(path: string, view: View, member?: Client): Promise<Visit>
  stop(): Promise<void>
}

/** A page that somebody looks at. */
export type Visit = {
  readonly page: Page
  readonly context: BrowserContext
  /**
   * What is wrong with the page as it stands, light and dark: what axe finds, errors of scripts and of the content security
   * policy, requests to another origin, and whether it scrolls sideways. With SCREENSHOTS set, a picture of each theme goes
   * into that folder. The page is left in the other theme, so that a walk goes on in both.
   */
  readonly problems: (name: string) => Promise<readonly string[]>
}

const require = createRequire(import.meta.url)
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
/** Those of axe's rules that see colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']
const BUILT = new URL('../../dist/index.html', import.meta.url)

/** Starts a tracker with the standard categories. */
export async function startSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  if (!existsSync(BUILT)) throw new Error('the web application is not built: run pnpm build')
  const [tracker, browser] = await Promise.all([startTracker(env), launchChromium()])
  await tracker.context.useCases.categories.seed()
  return {
    tracker,
    open: (path, view, member) => visit(browser, tracker, path, view, member),
    stop: async () => {
      await browser.close()
      await tracker.stop()
    },
  }
}

/** Uploads a torrent of some size; returns its id. */
export async function addTorrent(
  member: Client,
  name: string,
  options: { category?: string; files?: readonly (readonly [path: string, size: number])[]; size?: number } = {},
): Promise<string> {
  const { category = 'tv-hd', ...content } = options
  // Of the pieces nothing is ever read here, and those of a large file would take long to make.
  const answer = await member.upload(makeTorrent(name, content), { category })
  return answer.member('id')
}

async function visit(
  browser: Browser,
  tracker: TestTracker,
  path: string,
  view: View,
  member?: Client,
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: view.width, height: view.width === 390 ? 844 : 800 },
    colorScheme: 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(20_000)
  if (member?.cookie !== undefined)
    await context.addCookies([{ name: 'session', value: member.cookie, url: tracker.url, httpOnly: true }])
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refused request is noted by the browser itself, and is no mistake of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      failures.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(`${tracker.url}/`)) failures.push(`request to ${request.url()}`)
  })
  await page.goto(tracker.url + path)
  let theme: 'light' | 'dark' = 'light'
  return {
    page,
    context,
    async problems(name) {
      await takeScreenshot(page, `${name}-${view.width}-${theme}`)
      const violations = await violationsIn(page)
      theme = theme === 'light' ? 'dark' : 'light'
      await page.emulateMedia({ colorScheme: theme })
      await takeScreenshot(page, `${name}-${view.width}-${theme}`)
      // A theme changes colours only.
      violations.push(...(await violationsIn(page, COLOUR_RULES)))
      const isWide = await page.evaluate<boolean>(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      )
      return [...failures, ...violations, ...(isWide ? ['the page scrolls sideways'] : [])]
    },
  }
}

/** What axe finds by its rules, or by some of them. */
async function violationsIn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`)) await page.evaluate(AXE)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: { type: 'rule', values: rules } }) }
  return await page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
