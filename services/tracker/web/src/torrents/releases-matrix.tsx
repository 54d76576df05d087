import { Link } from '@tanstack/react-router'
import { formatBytes } from '@vault-and-tracker/web-kit/format'
import type { ListedTorrent, RelatedTorrent, Release } from '../api/client.ts'
import { Peers } from '../release/peers.tsx'
import { BreakableName } from '../release/release-tags.tsx'

const UNKNOWN = 'Other'
const BEST_FIRST = ['4320', '2160', '1440', '1080', '720', '576', '540', '480'] as const

/** All releases of the content of a torrent: a row per resolution, a column per source. */
export function ReleasesMatrix({ torrent, related }: { torrent: ListedTorrent; related: readonly RelatedTorrent[] }) {
  const packs = related.filter(({ relation }) => relation === 'pack')
  const others = related.filter(({ relation }) => relation !== 'pack').map((each) => each.torrent)
  const all = [torrent, ...others]
  const rows = unique(all.map(({ release }) => release.resolution)).toSorted((a, b) => rankOf(a) - rankOf(b))
  const columns = unique(all.map(({ release }) => release.source)).toSorted()
  return (
    <div className="about-part">
      <h2>Releases of this title</h2>
      {related
        .filter(({ relation }) => relation === 'replacement')
        .map((each) => (
          <p key={each.torrent.id} className="notice">
            Replaced by{' '}
            <Link to="/torrents/$id" params={{ id: each.torrent.id }}>
              <BreakableName name={each.torrent.name} />
            </Link>
          </p>
        ))}
      {others.length === 0 ? (
        <p className="muted">No other releases.</p>
      ) : (
        <table className="matrix" role="table">
          <caption className="visually-hidden">Releases by resolution and source</caption>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">
                Resolution
              </th>
              {columns.map((source) => (
                <th key={source} role="columnheader" scope="col">
                  {source}
                </th>
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((resolution) => (
              <tr key={resolution} role="row">
                <th role="rowheader" scope="row">
                  {resolution}
                </th>
                {columns.map((source) => (
                  <td key={source} role="cell" data-label={source}>
                    <Slots
                      current={torrent.id}
                      torrents={all.filter(
                        ({ release }) =>
                          (release.resolution ?? UNKNOWN) === resolution && (release.source ?? UNKNOWN) === source,
                      )}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {packs.length > 0 && (
        <>
          <h3>In a season pack</h3>
          <Slots current={torrent.id} torrents={packs.map((each) => each.torrent)} />
        </>
      )}
    </div>
  )
}

function Slots({ current, torrents }: { current: string; torrents: readonly ListedTorrent[] }) {
  if (torrents.length === 0) return null
  return (
    <ul className="slots">
      {torrents.map(({ id, name, release, size, seeders }) => (
        <li key={id} data-current={id === current}>
          {id === current ? (
            <strong>{slotText(release)}</strong>
          ) : (
            <Link to="/torrents/$id" params={{ id }} title={name}>
              {slotText(release)}
              <span className="visually-hidden">, {name}</span>
            </Link>
          )}
          <span className="muted">
            {formatBytes(size)} <Peers kind="seeders" count={seeders} />
            <span className="visually-hidden"> seeders</span>
            {id === current && <span className="visually-hidden">, this torrent</span>}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** What distinguishes a release from others of its resolution and source. */
function slotText({ codec, hdr, audio, editions, languages, isProper, isRepack, group }: Release): string {
  const words = [
    ...[codec, ...hdr, ...audio, ...editions],
    ...languages.map((language) => language.toUpperCase()),
    ...[isProper ? 'Proper' : null, isRepack ? 'Repack' : null, group],
  ].filter((word) => word !== null)
  return words.length === 0 ? 'Release' : words.join(' · ')
}

function unique(values: readonly (string | null)[]): readonly string[] {
  return [...new Set(values.map((value) => value ?? UNKNOWN))]
}

function rankOf(resolution: string): number {
  const rank = BEST_FIRST.findIndex((lines) => resolution.startsWith(lines))
  return rank < 0 ? BEST_FIRST.length : rank
}
