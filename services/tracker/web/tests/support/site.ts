import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { launchChromium, VIEWS, type View, type Visit, visitPage } from '@vault-and-tracker/dev-env'
import type { Client } from '../../../tests/support/client.ts'
import { makeTorrent } from '../../../tests/support/make-torrent.ts'
import { startTracker, type TestTracker } from '../../../tests/support/tracker.ts'

export { VIEWS, type Visit }

export const DESKTOP: View = { width: 1280 }
export const NARROW: View = { width: 390 }

/** A tracker that serves the built application, and a browser. */
export type Site = {
  readonly tracker: TestTracker
  /** Opens an address as a signed-in member, or as a visitor. */
  open(path: string, view: View, member?: Client): Promise<Visit>
  stop(): Promise<void>
}

const BUILT = new URL('../../dist/index.html', import.meta.url)

/** Starts a tracker with the standard categories. */
export async function startSite(env: Readonly<Record<string, string>> = {}): Promise<Site> {
  if (!existsSync(BUILT)) throw new Error('the web application is not built: run pnpm build')
  const [tracker, browser] = await Promise.all([startTracker(env), launchChromium()])
  await tracker.context.useCases.categories.seed()
  return {
    tracker,
    open: (path, view, member) =>
      visitPage(browser, {
        ...{ origin: tracker.url, path, view },
        prepare: async (context) => {
          if (member?.cookie !== undefined)
            await context.addCookies([{ name: 'session', value: member.cookie, url: tracker.url, httpOnly: true }])
        },
      }),
    stop: async () => {
      await browser.close()
      await tracker.stop()
    },
  }
}

/** One site for all tests of a file. The pages of a test are closed after it. */
export function useSite(env?: Readonly<Record<string, string>>): Omit<Site, 'stop'> {
  let site: Site
  const visits: Visit[] = []
  beforeAll(async () => {
    site = await startSite(env)
  })
  afterEach(async () => {
    await Promise.all(visits.splice(0).map(({ context }) => context.close()))
  })
  afterAll(() => site.stop())
  return {
    get tracker() {
      return site.tracker
    },
    open: async (...args) => {
      const visit = await site.open(...args)
      visits.push(visit)
      return visit
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
