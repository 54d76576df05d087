import { isUnavailable } from '@vault-and-tracker/service-kit/core/unavailable'
import type { Background } from '@vault-and-tracker/service-kit/lifecycle/background'
import type { Logger } from '@vault-and-tracker/service-kit/log/logger'
import type { FirstAdministrator } from '../accounts/first-administrator.ts'
import { isFirstProcess } from '../workers.ts'

const RETRY_MS = 5_000

/**
 * Creates the function that logs a setup code once per start, if the site never had an administrator. If Postgres is
 * unavailable, a background task logs it later.
 */
export function createSetupAnnouncement(
  parts: { publicUrl: string; logger: Logger; background: Pick<Background, 'add'> },
  firstAdministrator: Pick<FirstAdministrator, 'issueCode'>,
): () => Promise<void> {
  const { publicUrl, logger, background } = parts
  let isDue = isFirstProcess()

  async function announce(): Promise<void> {
    if (!isDue) return
    const setupCode = await firstAdministrator.issueCode()
    isDue = false
    if (setupCode !== undefined)
      logger.warn(
        { url: `${publicUrl}/setup`, setupCode },
        'no administrator yet; open the URL and enter the setup code, which is valid for 24 hours',
      )
  }

  return async () => {
    try {
      await announce()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      background.add({
        everyMs: RETRY_MS,
        task: announce,
        onError: (again) => logger.warn({ err: again }, 'setup code not created; will retry'),
      })
    }
  }
}
