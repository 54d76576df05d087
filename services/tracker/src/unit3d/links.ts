import { type LinkingToken, linkKeyOf } from '../tokens/token-text.ts'

/** What the key in the link of a torrent opens. */
export function subjectOf(number: string): string {
  return `unit3d download ${number}`
}

/**
 * The path and query of a .torrent file. Tools download it without their token, so the link has a key of its own, in the
 * query because access logs leave that out. They read the number of an upload before the dot.
 */
export function downloadPath(number: number, token: LinkingToken): string {
  return `/unit3d/torrent/download/${number}.torrent?rsskey=${linkKeyOf(token, subjectOf(String(number)))}`
}
