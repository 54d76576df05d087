import { formatCount } from '@vault-and-tracker/web-kit/format'
import type { TorznabSettings } from '../../api/client.ts'

/** Sonarr, Radarr and their relatives wait two seconds between requests to an indexer. */
const SEARCHES_A_MINUTE = 30

/** What changed settings do to those who use the API, in sentences. */
export function consequencesOf(now: TorznabSettings, changes: Partial<TorznabSettings>): readonly string[] {
  const next = { ...now, ...changes }
  const isLimit = changes.windowSeconds ?? changes.searchLimit ?? changes.downloadLimit
  return [
    changes.enabled === false &&
      'Every tool is refused with error 910 until the API is switched on again. Announces and this site are not affected.',
    changes.enabled === true && 'Tools are answered again. Some of them wait up to a day before they ask again.',
    changes.logging === false && 'New requests are no longer in the log. What was logged stays until it is old enough.',
    changes.logging === true && 'Requests are logged from now on, with what was searched for and by whom.',
    isLimit !== undefined && limitsSentence(next),
    isLimit !== undefined && programsSentence(next),
    isStricter(now, next) &&
      'Whoever sends more is refused until the window ends. Ten refusals in a window, or refusals in three windows ' +
        'running, block their address for 5 minutes, then 10, then 20, up to 24 hours.',
  ].filter((sentence) => typeof sentence === 'string')
}

function limitsSentence({ windowSeconds, searchLimit, downloadLimit }: TorznabSettings): string {
  return `Each user may search ${times(searchLimit)} and download ${times(downloadLimit)} in ${windowSeconds} seconds.`
}

/** One key is shared by several programs of a user, each of which may send as much as it does at most. */
function programsSentence({ windowSeconds, searchLimit }: TorznabSettings): string {
  const aMinute = (searchLimit * 60) / windowSeconds
  const programs = Math.floor(aMinute / SEARCHES_A_MINUTE)
  const reach =
    programs === 0
      ? 'less than one program such as Sonarr sends when it looks for much at once'
      : programs === 1
        ? 'as much as one program such as Sonarr sends at most'
        : `as much as ${formatCount(programs)} programs such as Sonarr send at most`
  return `That is ${formatCount(Math.round(aMinute * 10) / 10)} searches a minute: ${reach}.`
}

function isStricter(now: TorznabSettings, next: TorznabSettings): boolean {
  const rate = (limit: number, { windowSeconds }: TorznabSettings): number => limit / windowSeconds
  return (
    rate(next.searchLimit, next) < rate(now.searchLimit, now) ||
    rate(next.downloadLimit, next) < rate(now.downloadLimit, now)
  )
}

function times(count: number): string {
  return count === 1 ? 'once' : `${formatCount(count)} times`
}
