import type { Browser } from 'playwright-core'
import { findProgram } from '../processes/command.mjs'
import { BROWSERS } from './browsers.mjs'

/** Starts the Chromium of this machine. */
export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const executablePath = BROWSERS.map((name) => findProgram(name)).find(Boolean)
  if (executablePath === undefined) throw new Error('Chromium is not on this machine')
  // Loading it takes half of the time in which a test file is loaded, and few of them need it.
  const { chromium } = await import('playwright-core')
  // For root there is no sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage', ...args] })
}
