import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { TorznabSettings } from '../../api/client.ts'

/** The effects of a change of the settings on users of the API, in sentences. */
export function consequencesOf(now: TorznabSettings, changes: Partial<TorznabSettings>): readonly string[] {
  const next = { ...now, ...changes }
  const perMinute = ({ windowSeconds, ...limits }: TorznabSettings, limit: 'searchLimit' | 'downloadLimit'): number =>
    Math.round((limits[limit] * 600) / windowSeconds) / 10
  const isStricter = (['searchLimit', 'downloadLimit'] as const).some(
    (limit) => next[limit] / next.windowSeconds < now[limit] / now.windowSeconds,
  )
  return [
    changes.enabled === false &&
      'All tools are refused with error 910 until you switch the API on again. Announces and the site are not affected.',
    changes.enabled === true && 'Tools can use the API again. Some wait up to a day before they retry.',
    changes.logging === false && 'New requests are no longer logged. Existing entries stay until they expire.',
    changes.logging === true && 'New requests are logged with their user and query.',
    (changes.windowSeconds ?? changes.searchLimit ?? changes.downloadLimit) !== undefined &&
      `Each user may send ${formatCount(perMinute(next, 'searchLimit'))} searches and ` +
        `${formatCount(perMinute(next, 'downloadLimit'))} downloads per minute. A program such as Sonarr sends up to 30 ` +
        'searches per minute, and the programs of a user share the limits.',
    isStricter &&
      'Requests over a limit are refused until the window ends. Ten refusals in one window, or refusals in three consecutive ' +
        'windows, block the address for 5 minutes, then 10, then 20, up to 24 hours.',
  ].filter((sentence) => typeof sentence === 'string')
}
