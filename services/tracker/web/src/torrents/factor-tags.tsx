import type { ListedTorrent } from '../api/client.ts'

/** How a torrent counts, where that is not in full, and whether it is in the catalogue yet. */
export function FactorTags({ torrent }: { torrent: ListedTorrent }) {
  const { downloadPercent, uploadPercent, state } = torrent
  const words = [
    downloadPercent === 0 ? 'Freeleech' : downloadPercent === 100 ? '' : `${downloadPercent} % download`,
    uploadPercent === 100 ? '' : uploadPercent === 200 ? 'Double upload' : `${uploadPercent} % upload`,
    state === 'approved' ? '' : state === 'pending' ? 'Waits for approval' : 'Rejected',
  ].filter((word) => word !== '')
  return words.map((word) => (
    <span key={word} className="tag" data-tone={state === 'rejected' ? 'bad' : state === 'pending' ? 'warn' : 'good'}>
      {word}
    </span>
  ))
}
