import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { TorznabSettings } from '../../api/client.ts'

/** The effects of a change of the settings on users of the API, in sentences. */
export function consequencesOf(now: TorznabSettings, next: TorznabSettings): readonly string[] {
  const perSecond = ({ windowSeconds, searchLimit, downloadLimit }: TorznabSettings) =>
    [searchLimit / windowSeconds, downloadLimit / windowSeconds] as const
  const [before, after] = [perSecond(now), perSecond(next)]
  const [searches, downloads] = after.map((rate) => formatCount(Math.round(rate * 600) / 10))
  const isSwitched = (name: 'enabled' | 'logging', on: boolean) => now[name] !== on && next[name] === on
  return [
    isSwitched('enabled', false) &&
      'All tools are refused with error 910 until you switch the API on again. Announces and the site are not affected.',
    isSwitched('enabled', true) && 'Tools can use the API again. Some wait up to a day before they retry.',
    isSwitched('logging', false) && 'New requests are no longer logged. Existing entries stay until they expire.',
    isSwitched('logging', true) && 'New requests are logged with their user and query.',
    String(before) !== String(after) &&
      `Each user may send ${searches} searches and ${downloads} downloads per minute. A program such as Sonarr sends up ` +
        'to 30 searches per minute, and the programs of a user share the limits.',
    (after[0] < before[0] || after[1] < before[1]) &&
      'Requests over a limit are refused until the window ends. Ten refusals in one window, or refusals in three consecutive ' +
        'windows, block the address for 5 minutes, then 10, then 20, up to 24 hours.',
  ].filter((sentence) => typeof sentence === 'string')
}
