import { useQuery } from '@tanstack/react-query'
import { formatBytes, formatCount } from '@vault-and-tracker/web-kit/format'
import { Facts } from '@vault-and-tracker/web-kit/layout'
import type { TorrentPreview } from '../api/client.ts'
import { categories, flatten } from '../api/queries.ts'
import { numbering } from '../release/numbering.ts'
import { ReleaseTags } from '../release/release-tags.tsx'

/** The data that the tracker reads from the file and its name. */
export function Understood({ preview, isStale }: { preview: TorrentPreview; isStale: boolean }) {
  const { name, size, files, firstFiles, release, category } = preview
  const { data: tree = [] } = useQuery(categories)
  const path = flatten(tree).find(({ slug }) => slug === category)?.path
  return (
    <section className="understood" aria-label="Preview" aria-busy={isStale}>
      <h2>{release.title ?? name}</h2>
      <ReleaseTags release={release} />
      <Facts
        facts={[
          ['Size', formatBytes(size)],
          ['Files', formatCount(files)],
          ...numbering(release),
          ...(path === undefined ? [] : [['Category', <bdi>{path}</bdi>] as const]),
        ]}
      />
      <details>
        <summary>Files</summary>
        <ul className="file-list">
          {firstFiles.map((file) => (
            <li key={file.path}>
              <span>{file.path}</span>
              <span className="muted">{formatBytes(file.size)}</span>
            </li>
          ))}
          {files > firstFiles.length && <li className="muted">and {formatCount(files - firstFiles.length)} more</li>}
        </ul>
      </details>
    </section>
  )
}
