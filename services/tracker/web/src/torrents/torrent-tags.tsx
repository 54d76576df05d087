import type { ListedTorrent } from '../api/client.ts'
import { ratesText } from '../release/rates.ts'

/** The rates of a torrent, if they are not normal, and its state, if it is not approved. */
export function TorrentTags({ torrent }: { torrent: ListedTorrent }) {
  const { state, internal, scene } = torrent
  const words = [
    ...(internal ? ['Internal'] : []),
    ...(scene ? ['Scene'] : []),
    ...ratesText(torrent),
    ...(state === 'approved' ? [] : [state === 'pending' ? 'Awaiting approval' : 'Rejected']),
  ]
  return words.map((word) => (
    <span key={word} className="tag" data-tone={state === 'rejected' ? 'bad' : state === 'pending' ? 'warn' : 'good'}>
      {word}
    </span>
  ))
}
