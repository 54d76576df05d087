export { given, oneOf, pageIn, type RawSearch, textIn } from './search.ts'
