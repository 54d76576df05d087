import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pending } from '@vault-and-tracker/web-kit/feedback'
import { Copyable } from '@vault-and-tracker/web-kit/form'
import { formatBytes, formatDuration, formatRatio } from '@vault-and-tracker/web-kit/format'
import { Details, type Fact } from '@vault-and-tracker/web-kit/layout'
import type { Torrent, TorrentDetails } from '../api/client.ts'
import { Description } from '../release/description.tsx'
import { numbering } from '../release/numbering.ts'
import { ReleasesMatrix } from './releases-matrix.tsx'
import { torrentDetails } from './torrent-queries.ts'

/** Description, media, other releases, costs and ids. */
export function About({ torrent }: { torrent: Torrent }) {
  const { data, error, refetch } = useQuery(torrentDetails(torrent.id))
  return (
    <div className="about-columns">
      <div className="about">
        <div className="about-part">
          <h2>Description</h2>
          <Description text={torrent.description} />
        </div>
        {data === undefined ? (
          <Pending error={error} onRetry={() => void refetch()} rows={5} label="Loading details…" />
        ) : (
          <>
            {data.media && <Media id={torrent.id} media={data.media} />}
            <ReleasesMatrix torrent={torrent} related={data.related} />
          </>
        )}
      </div>
      <aside className="about" aria-label="Facts">
        {data &&
          (isHeld(data.transfer) ? <Own transfer={data.transfer} cost={data.cost} /> : <Cost cost={data.cost} />)}
        <div className="about-part">
          <h2>Release</h2>
          <Details facts={[...numbering(torrent.release), ...idsOf(torrent), ...hashesOf(torrent)]} />
        </div>
      </aside>
    </div>
  )
}

function Media({ id, media }: { id: string; media: NonNullable<TorrentDetails['media']> }) {
  const { container, duration, video, audio, subtitles } = media
  const facts: readonly Fact[] = [
    ...(container === null && duration === null ? [] : [['File', joined([container, duration])] as const]),
    ...video.map(
      ({ codec, resolution, width, height, hdr, frameRate, bitRate }, i): Fact => [
        labelOf('Video', i, video.length),
        joined([codec, resolution, width && height && `${width} × ${height}`, hdr, frameRate, bitRate]),
      ],
    ),
    ...audio.map(
      ({ language, codec, channels, bitRate, title }, i): Fact => [
        labelOf('Audio', i, audio.length),
        joined([language, codec, channels, bitRate, title]),
      ],
    ),
    ...(subtitles.length === 0
      ? []
      : [
          [
            'Subtitles',
            subtitles
              .map(({ language, title, isForced }) => joined([language ?? title, isForced && 'forced']))
              .join(', '),
          ] as const,
        ]),
  ]
  return (
    <div className="about-part">
      <h2>Media</h2>
      <Details facts={facts} />
      <p>
        <Link to="/torrents/$id" params={{ id }} search={{ tab: 'texts' }} resetScroll={false}>
          View MediaInfo
        </Link>
      </p>
    </div>
  )
}

function labelOf(kind: string, index: number, count: number): string {
  return count === 1 ? kind : `${kind} ${index + 1}`
}

function joined(parts: readonly (string | number | false | null)[]): string {
  return parts.filter(Boolean).join(' · ') || 'Unknown'
}

type Transfer = NonNullable<TorrentDetails['transfer']>

/** Whether the member has all of the torrent. */
function isHeld(transfer: TorrentDetails['transfer']): transfer is Transfer {
  return transfer !== null && (transfer.isSeeding || transfer.completed !== null)
}

function Own({ transfer, cost }: { transfer: Transfer; cost: TorrentDetails['cost'] }) {
  const { isSeeding, uploaded, downloaded, seedSeconds, completed } = transfer
  const left = completed === null || uploaded >= downloaded ? 0 : Math.max(0, cost.seedSeconds - seedSeconds)
  return (
    <div className="about-part">
      <h2>Your copy</h2>
      <Details
        facts={[
          ['State', isSeeding ? 'Seeding' : 'Not seeding'],
          ['Uploaded', formatBytes(uploaded)],
          ['Downloaded', formatBytes(downloaded)],
          ['Seed time', formatDuration(seedSeconds)],
          ...seedTime('Still to seed', left),
        ]}
      />
    </div>
  )
}

function Cost({ cost }: { cost: TorrentDetails['cost'] }) {
  const { downloadPercent, uploadPercent, counted, ratio, ratioAfter, seedSeconds } = cost
  return (
    <div className="about-part">
      <h2>What a download costs you</h2>
      <Details
        facts={[
          [
            'Counted',
            downloadPercent === 0
              ? 'Nothing (freeleech)'
              : `${formatBytes(counted)}${downloadPercent === 100 ? '' : ` (${downloadPercent} %)`}`,
          ],
          [
            'Ratio afterwards',
            ratioAfter === ratio
              ? `${formatRatio(ratio)}, unchanged`
              : `${formatRatio(ratioAfter)}, now ${formatRatio(ratio)}`,
          ],
          ...(uploadPercent === 100 ? [] : [['Upload rate', `${uploadPercent} %`] as const]),
          ...seedTime('Seed for', seedSeconds),
        ]}
      />
    </div>
  )
}

function seedTime(label: string, seconds: number): readonly Fact[] {
  const text = `${formatDuration(seconds)}, or until you have uploaded as much as you downloaded`
  return seconds === 0 ? [] : [[label, text]]
}

function hashesOf({ infoHash, infoHashV2 }: Torrent): readonly Fact[] {
  const hashes = [
    ['Info hash', infoHash],
    ['Info hash v2', infoHashV2],
  ] as const
  return hashes.flatMap(([label, hash]) =>
    hash === null ? [] : [[label, <Copyable text={hash} what={label.toLowerCase()} />] as const],
  )
}

function idsOf({ imdb, tmdb, tvdb, release }: Torrent): readonly Fact[] {
  const isSeries = release.seasonFrom !== null || release.episodeFrom !== null || release.airDate !== null
  const kind = isSeries ? 'tv' : 'movie'
  const ids = [
    ['IMDb', imdb, `https://www.imdb.com/title/${imdb}/`],
    ['TMDB', tmdb, `https://www.themoviedb.org/${kind}/${tmdb}`],
    ['TVDB', tvdb, `https://thetvdb.com/dereferrer/series/${tvdb}`],
  ] as const
  return ids.flatMap(([label, id, url]) =>
    id === null
      ? []
      : [
          [
            label,
            <a href={url} rel="nofollow noopener noreferrer" target="_blank">
              {id}
            </a>,
          ] as const,
        ],
  )
}
