import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { requireProgram } from '../processes/programs.mjs'
import { TRIALS } from './trials.ts'

/** Starts Chromium. The headless shell is preferred, because it takes half of the processor time. */
export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const executablePath = await requireProgram('chromium-headless-shell')
  // Loading it takes as long as everything else that a test file loads, and few test files need it.
  const { chromium } = await import('playwright-core')
  // Root has no sandbox.
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', ...args],
  })
}

/** The width of the window. */
export type View = { readonly width: 1280 | 390 }

const VIEWS: readonly View[] = [{ width: 1280 }, { width: 390 }]

/** An open page. */
export type Visit = {
  readonly page: Page
  readonly context: BrowserContext
  /**
   * Checks the current page: violations that axe finds, errors of scripts and of the content security policy, requests to
   * another origin, and in both widths whether the page or an open dialog scrolls sideways. With TRIALS, axe checks both
   * widths and both themes. With SCREENSHOTS set, saves pictures in that folder.
   */
  readonly problems: (name: string) => Promise<readonly string[]>
  /** Errors that the test provokes on purpose, until it leaves the page. */
  readonly provoke: (errors: RegExp) => void
  /**
   * Leaves the page for another test: empty, with its first width and colours, and with nothing in its storage but the
   * account. Returns the errors of scripts and of the content security policy since the last check.
   */
  readonly leave: () => Promise<readonly string[]>
}

/** The visits of a browser. */
export type Visits<Opened extends Visit> = {
  /**
   * Opens an address. Visits with a key are kept: another page in one takes a third of the time of a new one. Visits without
   * a key are closed after the test.
   */
  open(key: string | undefined, url: string, openNew: () => Promise<Opened>): Promise<Opened>
  /** Leaves all visits for another test, and returns their errors. */
  leave(): Promise<readonly string[]>
  close(): Promise<void>
}

export function createVisits<Opened extends Visit>(): Visits<Opened> {
  const kept = new Map<string, Opened>()
  const others = new Set<Opened>()
  return {
    async open(key, url, openNew) {
      const known = key === undefined ? undefined : kept.get(key)
      if (known !== undefined) {
        await known.page.goto(url)
        return known
      }
      const opened = await openNew()
      if (key === undefined) others.add(opened)
      else kept.set(key, opened)
      return opened
    },
    async leave() {
      const errors: string[] = []
      for (const visit of [...others, ...kept.values()])
        if (visit.page.url() !== NOWHERE) errors.push(...(await visit.leave()))
      await Promise.all([...others].map(({ context }) => context.close()))
      others.clear()
      return errors
    },
    async close() {
      await Promise.all([...others, ...kept.values()].map(({ context }) => context.close()))
    },
  }
}

const require = createRequire(import.meta.url)
/** The rules of axe to check. */
type Rules = 'all' | 'colours' | 'none'

/** The rules of axe that depend on colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Opens an address of a web application in a new context. `prepare` can set cookies before the page loads. */
export async function visitPage(
  browser: Browser,
  options: { origin: string; path: string; view: View; prepare?: (context: BrowserContext) => Promise<void> },
): Promise<Visit> {
  const { origin, path, view, prepare } = options
  const settings: BrowserContextOptions = {
    viewport: sizeOf(view),
    colorScheme: 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  }
  const context = await browser.newContext(settings)
  context.setDefaultTimeout(60_000)
  await prepare?.(context)
  const page = await context.newPage()
  let provoked: RegExp | undefined
  const failures: string[] = []
  const fail = (failure: string): void => {
    if (provoked?.test(failure) !== true) failures.push(failure)
  }
  page.on('pageerror', (error) => fail(`error: ${error.message}`))
  page.on('console', (message) => {
    // The browser logs refused requests itself, and the application the end of a session. These are not its errors.
    if (message.type() === 'error' && !/^(?:Failed to load resource|ApiError: Sign in first)/.test(message.text()))
      fail(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    // Files that the page offers for download have blob: addresses.
    if (
      !request
        .url()
        .replace(/^blob:/, '')
        .startsWith(`${origin}/`)
    )
      fail(`${ELSEWHERE}${request.url()}`)
  })
  await page.goto(origin + path)
  const other = VIEWS.find(({ width }) => width !== view.width) ?? view
  return {
    page,
    context,
    async problems(name) {
      const found: string[] = []
      const check = async ({ width }: View, theme: 'light' | 'dark', rules: Rules): Promise<void> => {
        await page.emulateMedia({ colorScheme: theme })
        // A list that waits for its next page is dimmed.
        await page
          .locator('table[aria-busy="true"]')
          .waitFor({ state: 'detached', timeout: 2_000 })
          .catch(() => undefined)
        await takeScreenshot(page, `${name}-${String(width)}-${theme}`)
        const wrong = rules === 'none' ? [] : await violationsIn(page, rules)
        if (await scrollsSideways(page)) wrong.push('the page, or a dialog in it, scrolls sideways')
        found.push(...wrong.map((each) => `${String(width)} ${theme}: ${each}`))
      }
      await check(view, 'light', 'all')
      // A theme changes colours only, so all rules run once per width.
      if (TRIALS > 1) await check(view, 'dark', 'colours')
      await page.setViewportSize(sizeOf(other))
      await check(other, 'dark', TRIALS > 1 ? 'all' : 'none')
      if (TRIALS > 1) await check(other, 'light', 'colours')
      await page.setViewportSize(sizeOf(view))
      await page.emulateMedia({ colorScheme: 'light' })
      return [...failures.splice(0), ...found]
    },
    provoke(errors) {
      provoked = errors
    },
    async leave() {
      const errors = failures.filter((failure) => !failure.startsWith(ELSEWHERE))
      await page.unrouteAll()
      // Bodies of answers cannot be read any more once the page is another.
      page.removeAllListeners('response')
      // A page that could not be loaded has no storage.
      await page.evaluate(CLEAR_STORAGE).catch(() => undefined)
      await page.goto(NOWHERE)
      await page.setViewportSize(sizeOf(view))
      await page.emulateMedia({ colorScheme: 'light' })
      failures.splice(0)
      provoked = undefined
      return errors
    },
  }
}

const NOWHERE = 'about:blank'

/** How a failure begins that is a request to another origin, such as the one to a sign-in provider. */
const ELSEWHERE = 'request to '

const CLEAR_STORAGE = `for (const storage of [localStorage, sessionStorage])
  for (const key of Object.keys(storage)) if (key !== 'account') storage.removeItem(key)`

function sizeOf({ width }: View): { width: number; height: number } {
  return { width, height: width === 390 ? 844 : 800 }
}

function scrollsSideways(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(
    `[document.documentElement, ...document.querySelectorAll('dialog[open]')].some(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`,
  )
}

/** The violations that axe finds. */
async function violationsIn(page: Page, rules: 'all' | 'colours'): Promise<string[]> {
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`))
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'))
  const options = {
    resultTypes: ['violations'],
    ...(rules === 'colours' && { runOnly: { type: 'rule', values: COLOUR_RULES } }),
  }
  return await page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`)
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
