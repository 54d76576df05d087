/** Further words of a query are ignored. */
const MAX_QUERY_TOKENS = 20

/** Longer words are cut, both in names and in queries. */
const MAX_TOKEN_LENGTH = 100

/** Letters without a Unicode decomposition that people type differently, folded as Postgres' `unaccent` does. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ŧ: 't',
  þ: 'th',
}
const FOLDED_LETTERS = new RegExp(`[${Object.keys(FOLDED).join('')}]`, 'gu')

/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u
const UNSPACED_OR_WORD = new RegExp(`${UNSPACED.source}|[^\\s]+?(?=${UNSPACED.source}|\\s|$)`, 'gu')

/** Ignored in a query that contains other words. */
const FILLERS = new Set(['the', 'a', 'an', 'and'])

/**
 * The words that find a name. Release names replace spaces with dots and often omit accents and apostrophes, so text is
 * folded before it is split. Initials are also joined: `swat` finds `S.W.A.T.`.
 */
export function indexTokens(...texts: readonly string[]): readonly string[] {
  const tokens = new Set<string>()
  for (const text of texts) {
    const words = wordsOf(text)
    for (const token of [...words.flatMap(indexForms), ...joinedInitials(words)]) tokens.add(cut(token))
  }
  return [...tokens]
}

/**
 * The words that a name must contain to match a query. Empty if the query contains no word, which matches every name.
 */
export function queryTokens(query: string): readonly string[] {
  const words = wordsOf(query)
  const telling = words.filter((word) => !FILLERS.has(word))
  const tokens = (telling.length > 0 ? telling : words).flatMap(queryForms)
  return [...new Set(tokens.map(cut))].slice(0, MAX_QUERY_TOKENS)
}

/** The joined initials of a text: `mash` for `M A S H`. */
export function initialsOf(text: string): readonly string[] {
  return joinedInitials(wordsOf(text))
}

/** Cuts text to a length in UTF-16 units, never inside a surrogate pair, because Postgres refuses half of one in JSON. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

function cut(token: string): string {
  return cutText(token, MAX_TOKEN_LENGTH)
}

/**
 * Lowercase, without accents, apostrophes and invisible characters such as soft hyphens; `&` becomes a word; split at
 * everything that is not a letter or digit.
 */
export function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // Latin, Greek and Cyrillic marks only, because those of other scripts carry meaning.
    .replace(/[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/['`´‘’ʼʻ′]/g, '')
    .replace(/&/g, ' and ')
    .replace(FOLDED_LETTERS, (letter) => FOLDED[letter] ?? letter)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
  return folded.match(UNSPACED_OR_WORD) ?? []
}

function isUnspaced(word: string): boolean {
  return UNSPACED.test(word)
}

/** Text without spaces is indexed by its characters and pairs of neighbours. */
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

/** Each run of initials as one word, also without `a` or `i` at its ends. */
function joinedInitials(words: readonly string[]): readonly string[] {
  const runs = ` ${words.join(' ')} `.match(/(?<= )(?:[a-z] ){2,}/g)?.map((run) => run.replaceAll(' ', '')) ?? []
  return runs.flatMap((run) => [
    run,
    ...[run.replace(/^[ai]/, ''), run.replace(/[ai]$/, '')].filter(isShorterThan(run)),
  ])
}

function isShorterThan(run: string): (part: string) => boolean {
  return (part) => part.length > 1 && part.length < run.length
}
