import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import { createVisits, launchChromium, type View, type Visit, visitPage } from '@vault-and-tracker/dev-env'
import type { Browser, Locator } from 'playwright-core'
import type { Client } from '../../../tests/support/client.ts'
import { makeTorrent } from '../../../tests/support/make-torrent.ts'
import { startTracker, type TestTracker } from '../../../tests/support/tracker.ts'

export type { Visit }

export const DESKTOP: View = { width: 1280 }
export const NARROW: View = { width: 390 }

/** A tracker that serves the built application, and a browser. */
type Site = {
  readonly tracker: TestTracker
  /**
   * Opens an address as a signed-in member, who has one context for each width, or as a visitor, who has a new one.
   *
   * @param origin another address of the site
   */
  open(path: string, view: View, member?: Client, origin?: string): Promise<Visit>
  /** Closes the pages of visitors, and empties those of members. Fails the test if one of them had errors. */
  leave(): Promise<void>
  stop(): Promise<void>
}

type Env = Readonly<Record<string, string>>

const BUILT = new URL('../../dist/index.html', import.meta.url)

/** Starts a tracker with the standard categories, and a browser unless one is given. */
async function startSite(env: Env = {}, shared?: Browser): Promise<Site & { readonly browser: Browser }> {
  if (!existsSync(BUILT)) throw new Error('the web application is not built: run pnpm build')
  const [tracker, browser] = await Promise.all([startTracker(env), shared ?? launchChromium()])
  await tracker.context.useCases.categories.seed()
  const visits = createVisits()
  return {
    tracker,
    browser,
    open: async (path, view, member, origin = tracker.url) => {
      const session = member?.cookie
      const key = session && [session, view.width, origin].join()
      return visits.open(key, origin + path, () =>
        visitPage(browser, {
          ...{ origin, path, view },
          prepare: async (context) => {
            if (session !== undefined)
              await context.addCookies([{ name: 'session', value: session, url: origin, httpOnly: true }])
          },
        }),
      )
    },
    leave: async () => {
      expect(await visits.leave()).toEqual([])
    },
    stop: async () => {
      if (shared === undefined) await browser.close()
      else {
        expect(await visits.leave()).toEqual([])
        await visits.close()
      }
      await tracker.stop()
    },
  }
}

/** One site for all tests of a file. The pages and other sites of a test are left after it. */
export function useSite(env?: Env): Pick<Site, 'open' | 'tracker'> & { another(env: Env): Promise<Site> } {
  let site: Awaited<ReturnType<typeof startSite>>
  const others: Site[] = []
  beforeAll(async () => {
    site = await startSite(env)
  })
  afterEach(async () => {
    await site.leave()
    await Promise.all(others.splice(0).map((other) => other.stop()))
  })
  afterAll(() => site.stop())
  return {
    get tracker() {
      return site.tracker
    },
    open: (...args) => site.open(...args),
    another: async (otherEnv) => {
      const other = await startSite(otherEnv, site.browser)
      others.push(other)
      return other
    },
  }
}

/** Uploads a torrent and returns its id. */
export async function addTorrent(
  member: Client,
  name: string,
  options: { category?: string; files?: readonly (readonly [path: string, size: number])[]; size?: number } = {},
): Promise<string> {
  const { category = 'tv-hd', ...content } = options
  // No test reads the pieces, and those of a large file would take long to create.
  const answer = await member.upload(makeTorrent(name, content), { category })
  return answer.member('id')
}

/** More controls than any page has before its last one. */
const MAX_TABS = 80

/** Moves the focus with Tab to a control. @throws {Error} if Tab does not reach it */
export async function tabTo(control: Locator): Promise<void> {
  const page = control.page()
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    if ((await control.and(page.locator(':focus')).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${String(control)}`)
}

/** Moves the focus with Tab to a field, and types instead of what is in it. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  await tabTo(field)
  await field.page().keyboard.press('Control+A')
  await field.page().keyboard.type(text)
}

/** Moves the focus with Tab to a date, and types it. @param date as in `2026-12-31` */
export async function typeDate(field: Locator, date: string): Promise<void> {
  const [year = '', month = '', day = ''] = date.split('-')
  const { keyboard } = field.page()
  await tabTo(field)
  // To the month, if the focus was in the field already.
  for (const key of ['ArrowLeft', 'ArrowLeft']) await keyboard.press(key)
  await keyboard.type(month + day + year)
}

/** Moves the focus with Tab to a control, and presses a key. */
export async function pressOn(control: Locator, key: 'Enter' | 'Space'): Promise<void> {
  await tabTo(control)
  await control.page().keyboard.press(key)
}

/** Opens the chooser of a file field with the keyboard, and chooses a file. */
export async function chooseFile(field: Locator, file: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  const opened = field.page().waitForEvent('filechooser')
  await pressOn(field, 'Enter')
  await (await opened).setFiles(file)
}

/** Checks or unchecks a value of a filter behind a button; the list may show how many torrents have it. */
export async function toggleFilter({ page }: Visit, filter: string, value: string): Promise<void> {
  const button = page.locator('summary', { hasText: filter })
  if (!(await page.getByRole('group', { name: filter }).isVisible())) await button.click()
  await page
    .getByRole('group', { name: filter })
    .getByRole('checkbox', { name: new RegExp(`^${value}( [\\d,]+)?$`) })
    .click()
}
