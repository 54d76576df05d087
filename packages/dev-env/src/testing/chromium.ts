import type { Browser } from 'playwright-core'
import { requireProgram } from '../processes/programs.mjs'

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
