import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** How a page is looked at. */
export type View = { readonly width: 1280 | 390 }

/** Every page is walked in each of these, and looked at in both themes. */
export const VIEWS: readonly View[] = [{ width: 1280 }, { width: 390 }]

/** A page that somebody looks at. */
export type Visit = {
  readonly page: Page
  readonly context: BrowserContext
  /**
   * What is wrong with the page as it stands, light and dark: what axe finds, errors of scripts and of the content security
   * policy, requests to another origin, and whether it or an open dialog scrolls sideways. With SCREENSHOTS set, a picture of each theme goes
   * into that folder. The page is left in the other theme, so that a walk goes on in both.
   */
  readonly problems: (name: string) => Promise<readonly string[]>
}

const require = createRequire(import.meta.url)
/** Those of axe's rules that see colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Opens an address of a web application in a new context. `prepare` sets cookies, for example, before the page is loaded. */
export async function visitPage(
  browser: Browser,
  options: { origin: string; path: string; view: View; prepare?: (context: BrowserContext) => Promise<void> },
): Promise<Visit> {
  const { origin, path, view, prepare } = options
  const settings: BrowserContextOptions = {
    viewport: { width: view.width, height: view.width === 390 ? 844 : 800 },
    colorScheme: 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  }
  const context = await browser.newContext(settings)
  context.setDefaultTimeout(20_000)
  await prepare?.(context)
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // A refused request is noted by the browser itself, and is no mistake of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      failures.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    // What a page downloads of its own has an address of its own too.
    if (
      !request
        .url()
        .replace(/^blob:/, '')
        .startsWith(`${origin}/`)
    )
      failures.push(`request to ${request.url()}`)
  })
  await page.goto(origin + path)
  let theme: 'light' | 'dark' = 'light'
  return {
    page,
    context,
    async problems(name) {
      await takeScreenshot(page, `${name}-${String(view.width)}-${theme}`)
      const violations = await violationsIn(page)
      theme = theme === 'light' ? 'dark' : 'light'
      await page.emulateMedia({ colorScheme: theme })
      await takeScreenshot(page, `${name}-${String(view.width)}-${theme}`)
      // A theme changes colours only.
      violations.push(...(await violationsIn(page, COLOUR_RULES)))
      const isWide = await page.evaluate<boolean>(
        `[document.documentElement, ...document.querySelectorAll('dialog[open]')].some(
          ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)`,
      )
      return [...failures, ...violations, ...(isWide ? ['the page, or a dialog of it, scrolls sideways'] : [])]
    },
  }
}

/** What axe finds by its rules, or by some of them. */
async function violationsIn(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (await page.evaluate<boolean>(`typeof axe === 'undefined'`))
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'))
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
