export { type Days, daysIn, rangeOf } from './days.ts'
export { given, oneOf, pageIn, type RawSearch, textIn } from './search.ts'
