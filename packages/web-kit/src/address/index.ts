export { given, oneOf, pageIn, type RawSearch, textIn } from './search.ts'
export { parseSearch, stringifySearch } from './text.ts'
