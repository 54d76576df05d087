/** Words that can have similar ones; numbers and short words resemble too many others. */
const SIMILAR = /^[^0-9]{4,40}$/u

/** The condition of the partial index of `search_words`, which Postgres uses only if the text is identical. */
export const SIMILAR_WORDS = `'${SIMILAR.source}'`

export function isSimilarWord(token: string): boolean {
  return SIMILAR.test(token)
}
