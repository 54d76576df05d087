import { Link } from '@tanstack/react-router'
import type { RelatedTorrent } from '../api/client.ts'
import { BreakableName } from './release-tags.tsx'

const RELATIONS: Readonly<Record<RelatedTorrent['relation'], string>> = {
  same: 'Same info hash',
  duplicate: 'Same release and quality',
  replacement: 'Replaces this release',
  replaced: 'Would be replaced',
  pack: 'Season pack',
  version: 'Other version',
}

/** Torrents of the same title and what they are to a release. */
export function RelatedList({ related }: { related: readonly RelatedTorrent[] }) {
  return (
    <ul className="related-list" aria-label="Releases of this title">
      {related.map(({ relation, torrent }) => (
        <li key={torrent.id}>
          <span className="tag" data-tone={relation === 'version' || relation === 'pack' ? undefined : 'warn'}>
            {RELATIONS[relation]}
          </span>{' '}
          <Link to="/torrents/$id" params={{ id: torrent.id }} target="_blank">
            <BreakableName name={torrent.name} />
          </Link>
        </li>
      ))}
    </ul>
  )
}
