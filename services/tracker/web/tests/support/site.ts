import { existsSync } from 'node:fs'
import { launchChromium, VIEWS, type View, type Visit, visitPage } from '@vault-and-tracker/dev-env'
import type { Client } from '../../../tests/support/client.ts'
import { makeTorrent } from '../../../tests/support/make-torrent.ts'
import { startTracker, type TestTracker } from '../../../tests/support/tracker.ts'

export { VIEWS, type Visit }

export const DESKTOP: View = { width: 1280 }

/** A tracker that serves the built application, and a browser. */
export type Site = {
  readonly tracker: TestTracker
  /** Opens an address as a member who is signed in, or as a visitor. */
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
