/** More words than these in a query narrow nothing further down. */
const MAX_QUERY_TOKENS = 20

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u
const UNSPACED_OR_WORD = new RegExp(`${UNSPACED.source}|[^\\s]+?(?=${UNSPACED.source}|\\s|$)`, 'gu')

/** Left out of a query when other words remain. */
const FILLERS = new Set(['the', 'a', 'an', 'and'])

/**
 * The words under which a name is found. Release names are not prose: dots stand for spaces, accents and apostrophes
 * come and go, so everything is folded before it is split. Initials are found joined too: `S.W.A.T.` as `swat`.
 */
export function indexTokens(...texts: readonly string[]): readonly string[] {
  const tokens = new Set<string>()
  for (const text of texts) {
    const words = wordsOf(text)
    for (const token of [...words.flatMap(indexForms), ...joinedInitials(words)]) tokens.add(token.slice(0, 100))
  }
  return [...tokens]
}

/**
 * The words that a name must have to match a query. Empty when the query holds no word, which matches everything that
 * the other filters let through.
 */
export function queryTokens(query: string): readonly string[] {
  const words = wordsOf(query)
  const telling = words.filter((word) => !FILLERS.has(word))
  const tokens = (telling.length > 0 ? telling : words).flatMap(queryForms)
  return [...new Set(tokens.map((token) => token.slice(0, 100)))].slice(0, MAX_QUERY_TOKENS)
}

/** Lower case, without accents and apostrophes, `&` as a word; split at everything that is no letter or digit. */
function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // Latin, Greek and Cyrillic marks; those of other scripts carry meaning.
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/['`´‘’ʼ]/g, '')
    .replace(/&/g, ' and ')
    .replace(/ß/g, 'ss')
    .replace(/æ/g, 'ae')
    .replace(/œ/g, 'oe')
    .replace(/ø/g, 'o')
    .replace(/ł/g, 'l')
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
  return folded.match(UNSPACED_OR_WORD) ?? []
}

function isUnspaced(word: string): boolean {
  return UNSPACED.test(word)
}

/** Text without spaces is found by any of its characters and any two neighbours. */
function indexForms(word: string): readonly string[] {
  return isUnspaced(word) ? [...Array.from(word), ...pairsOf(word)] : [word]
}

function queryForms(word: string): readonly string[] {
  if (!isUnspaced(word)) return [word]
  const pairs = pairsOf(word)
  return pairs.length > 0 ? pairs : [word]
}

function pairsOf(word: string): readonly string[] {
  const characters = Array.from(word)
  return characters.slice(1).map((character, i) => `${characters[i] ?? ''}${character}`)
}

function joinedInitials(words: readonly string[]): readonly string[] {
  return ` ${words.join(' ')} `.match(/(?<= )(?:[a-z] ){2,}/g)?.map((run) => run.replaceAll(' ', '')) ?? []
}
