import type { Found } from './release-name-tags.ts'

/** Years of a release beyond this one are a part of its title for a while yet. */
const LAST_YEAR = 2040

const YEAR = /(?<=^|[ (.[_-])(?:19|20)\d{2}(?=$|[ ).\],_-])/g
/** `1990-2010`, of collections, is no year. */
const YEARS = /\b(?:19|20)\d{2} ?- ?(?:19|20)\d{2}\b/g

const YEAR_FIRST = /\b((?:19|20)\d{2})([-. ])(\d{2})\2(\d{2})\b/
const YEAR_LAST = /\b(\d{2})([-. ])(\d{2})\2((?:19|20)\d{2})\b/

/** `2024.05.31`, `2024-05-31`, `31.05.2024`, `05.31.2024`; a day that does not exist is none. */
export function findAirDate(text: string): Found | undefined {
  const yearFirst = YEAR_FIRST.exec(text)
  if (yearFirst) {
    const [, year = '', , month = '', day = ''] = yearFirst
    const value = dayOf(year, month, day)
    return value === undefined ? undefined : { value, at: yearFirst.index }
  }
  const yearLast = YEAR_LAST.exec(text)
  if (yearLast === null) return undefined
  const [, one = '', , other = '', year = ''] = yearLast
  const value = dayOf(year, other, one) ?? dayOf(year, one, other)
  return value === undefined ? undefined : { value, at: yearLast.index }
}

/** The last year that is not the very beginning: `2001.A.Title.1968` is of 1968. */
export function findYear(text: string, airDate: Found | undefined): { value: number; at: number } | undefined {
  if (airDate) return { value: Number(airDate.value.slice(0, 4)), at: airDate.at }
  const single = text.replace(YEARS, (range) => ' '.repeat(range.length))
  const last = [...single.matchAll(YEAR)].filter((match) => match.index > 0 && Number(match[0]) <= LAST_YEAR).at(-1)
  return last && { value: Number(last[0]), at: last.index }
}

function dayOf(year: string, month: string, day: string): string | undefined {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const value = date.toISOString().slice(0, 10)
  return value === `${year}-${month}-${day}` ? value : undefined
}
