import { cutText } from '../text/cut-text.ts'

/** Further words in a query are ignored. */
const MAX_QUERY_TOKENS = 20

/** Longer words are cut, in names and in queries alike. */
const MAX_TOKEN_LENGTH = 100

/** Letters without a decomposition in Unicode that people type as others; what `unaccent` of Postgres makes of them. */
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

/** Scripts that are written without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/u
const UNSPACED_OR_WORD = new RegExp(`${UNSPACED.source}|[^\\s]+?(?=${UNSPACED.source}|\\s|$)`, 'gu')

/** Left out of a query when other words remain. */
const FILLERS = new Set(['the', 'a', 'an', 'and'])

/**
 * The words under which a name is found. In release names dots replace spaces, and accents and apostrophes are
 * often left out, so everything is folded before it is split. Initials are found joined too: `S.W.A.T.` as `swat`.
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
 * The words that a name must have to match a query. Empty when the query holds no word, which matches everything that
 * meets the other conditions.
 */
export function queryTokens(query: string): readonly string[] {
  const words = wordsOf(query)
  const telling = words.filter((word) => !FILLERS.has(word))
  const tokens = (telling.length > 0 ? telling : words).flatMap(queryForms)
  return [...new Set(tokens.map(cut))].slice(0, MAX_QUERY_TOKENS)
}

/** The initials of a text, joined: `mash` of `M A S H`. */
export function initialsOf(text: string): readonly string[] {
  return joinedInitials(wordsOf(text))
}

function cut(token: string): string {
  return cutText(token, MAX_TOKEN_LENGTH)
}

/**
 * Lower case, without accents, apostrophes and what is not seen, such as soft hyphens; `&` as a word; split at everything
 * that is no letter or digit.
 */
function wordsOf(text: string): readonly string[] {
  const folded = text
    .normalize('NFKD')
    .toLowerCase()
    // Latin, Greek and Cyrillic marks; those of other scripts carry meaning.
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

/** Each run of initials as one word, and without the words of one letter that it may begin or end with. */
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
