/** The words among which similar ones are looked for; numbers and short words are similar to too many others. */
const SIMILAR = /^[^0-9]{4,40}$/u

/** The same as the condition of the index of `search_words`, which Postgres uses only for this very text. */
export const SIMILAR_WORDS = `'${SIMILAR.source}'`

export function isSimilarWord(token: string): boolean {
  return SIMILAR.test(token)
}
