import type { TorrentEvent } from '../events/events.ts'

/** RFC 1459 section 2.3, without CR and LF. */
const MAX_LINE_BYTES = 510

/**
 * Reads a line. The name comes first and matches as much as possible, and what follows cannot contain the separators, so no
 * name can imitate another field. In the syntax that JavaScript and Go share.
 */
export const LINE_PATTERN =
  '^New torrent: (.+) \\| Category: ([a-z0-9-]*) \\| Size: (\\d+) B \\| Uploader: (\\S+) \\| Freeleech: (\\d+)% ' +
  '\\| Internal: (yes|no) \\| Scene: (yes|no) \\| Hash: ([0-9a-f]{40}) \\| (https?://\\S+/)torrents/([0-9a-f-]{36})$'

/** The names that autobrr has for the groups of the pattern, in their order. */
export const LINE_FIELDS = [
  ...['torrentName', 'category', 'torrentSize', 'uploader', 'freeleechPercent', 'internal', 'scene'],
  ...['torrentHash', 'baseUrl', 'torrentId'],
] as const

/**
 * An event as a line of IRC. A name that is too long is cut.
 *
 * @param prefix precedes the text in the message, such as `:announce PRIVMSG #announce :`
 */
export function announceLine({ torrent }: TorrentEvent, prefix: string): string {
  const { name, infoHash, category, size, uploader, downloadPercent, internal, scene, url } = torrent
  const [before, after] = [
    `${prefix}New torrent: `,
    ` | Category: ${category} | Size: ${size} B | Uploader: ${uploader ?? 'Anonymous'} | Freeleech: ` +
      `${100 - downloadPercent}% | Internal: ${yesOrNo(internal)} | Scene: ${yesOrNo(scene)} | Hash: ${infoHash} | ${url}`,
  ]
  const rest = MAX_LINE_BYTES - Buffer.byteLength(before) - Buffer.byteLength(after)
  return before + cut(name.replaceAll(/\p{Cc}/gu, ' '), rest) + after
}

function yesOrNo(is: boolean): 'yes' | 'no' {
  return is ? 'yes' : 'no'
}

const ELLIPSIS = '…'

/** A text that takes at most so many bytes, with an ellipsis where it was cut. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  // A character that was cut in two is decoded as U+FFFD.
  const start = Buffer.from(text).subarray(0, Math.max(0, bytes - Buffer.byteLength(ELLIPSIS)))
  return `${start.toString('utf8').replace(/\uFFFD+$/, '')}${ELLIPSIS}`
}
