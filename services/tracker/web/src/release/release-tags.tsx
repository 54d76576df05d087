import type { Release } from '../api/client.ts'

/** What a release name told, as short words in the order in which people look for them. */
function releaseWords(release: Release): readonly string[] {
  const { resolution, source, codec, hdr, audio, channels, languages, editions, isProper, isRepack } = release
  return [
    resolution,
    source,
    codec,
    ...hdr,
    ...audio,
    channels,
    ...languages.map((language) => language.toUpperCase()),
    ...editions,
    isProper ? 'Proper' : null,
    isRepack ? 'Repack' : null,
  ].filter((word) => word !== null)
}

/** The words, set apart from the name. */
export function ReleaseTags({ release }: { release: Release }) {
  const words = releaseWords(release)
  if (words.length === 0) return null
  return (
    <ul className="tags" aria-label="Release">
      {words.map((word) => (
        <li key={word}>{word}</li>
      ))}
    </ul>
  )
}

/** Where a name may break: behind its dots and underscores. */
export function BreakableName({ name }: { name: string }) {
  const parts = name.split(/(?<=[._])(?=[^._])/)
  return parts.map((part, index) => (
    // The parts of a name never change places.
    <span key={`${index} ${part}`}>
      {part}
      <wbr />
    </span>
  ))
}
