/** Bytes that are looked for, at least four, and whose they are. */
export type Pattern = { readonly key: string; readonly bytes: Buffer }

/** What begins at a place of a text. */
export type Found = {
  /** The longest pattern that is there as a whole. */
  readonly longest: Pattern | undefined
  /** Whether a longer one may be there, of which the end has not come yet. */
  readonly isOpen: boolean
}

export type Patterns = {
  at(text: Buffer, place: number): Found
  /** The first place from `from` on where a pattern may begin; the text's length where there is none. */
  nextCandidate(text: Buffer, from: number): number
}

const NOTHING: Found = { longest: undefined, isOpen: false }

/** Finds patterns by their first four bytes: nearly all places of an output are passed by one look into a table. */
export function createPatterns(patterns: readonly Pattern[]): Patterns {
  const firstBytes = new Uint8Array(1 << 16)
  const byBeginning = new Map<number, Pattern[]>()
  // The longest first: it is the one that is wanted.
  for (const pattern of patterns.toSorted((a, b) => b.bytes.length - a.bytes.length)) {
    firstBytes[pattern.bytes.readUInt16LE(0)] = 1
    const beginning = pattern.bytes.readUInt32LE(0)
    const others = byBeginning.get(beginning)
    if (others === undefined) byBeginning.set(beginning, [pattern])
    else others.push(pattern)
  }
  const isCandidate = (text: Buffer, place: number): boolean =>
    place + 1 >= text.length || firstBytes[(text[place] ?? 0) | ((text[place + 1] ?? 0) << 8)] === 1

  return {
    at: (text, place) => {
      if (!isCandidate(text, place)) return NOTHING
      const left = text.length - place
      // Of the last three bytes nothing is complete yet.
      if (left < 4)
        return { longest: undefined, isOpen: patterns.some(({ bytes }) => isEqual(bytes, text, place, left)) }
      let isOpen = false
      for (const pattern of byBeginning.get(text.readUInt32LE(place)) ?? []) {
        const length = Math.min(pattern.bytes.length, left)
        if (!isEqual(pattern.bytes, text, place, length)) continue
        if (length === pattern.bytes.length) return { longest: pattern, isOpen }
        isOpen = true
      }
      return { longest: undefined, isOpen }
    },
    nextCandidate: (text, from) => {
      let place = from
      while (place < text.length && !isCandidate(text, place)) place++
      return place
    },
  }
}

/** Whether the text has the first bytes of a pattern at a place. */
function isEqual(pattern: Buffer, text: Buffer, place: number, length: number): boolean {
  return text.compare(pattern, 0, length, place, place + length) === 0
}
