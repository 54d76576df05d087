import type { Release } from '../api/client.ts'

/** The properties of a release, in the order in which people look for them. */
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

/** The properties by which releases of the same title differ, as tags of a row. */
export function RowTags({ release }: { release: Release }) {
  const { resolution, source, codec, hdr, languages, isProper, isRepack } = release
  const words = [
    ...[resolution, source, codec, ...hdr],
    ...languages.map((language) => language.toUpperCase()),
    ...[isProper ? 'Proper' : null, isRepack ? 'Repack' : null],
  ].filter((word) => word !== null)
  return words.length === 0 ? null : <span className="row-tags">{words.join(' · ')}</span>
}

/** A name in its own direction, which may break after its dots and underscores. */
export function BreakableName({ name }: { name: string }) {
  const parts = name.split(/(?<=[._])(?=[^._])/)
  return (
    <bdi>
      {parts.map((part, index) => (
        // The parts never change their order.
        <span key={`${index} ${part}`}>
          {part}
          <wbr />
        </span>
      ))}
    </bdi>
  )
}
