import { oneOf, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import { RANGES, type Range } from '../activity/queries.ts'

/** What the address of the list says. */
export type ProjectsSearch = {
  readonly search?: string | undefined
  /** The form to register a project is open. */
  readonly register?: 'yes' | undefined
}

/** Reads the address of the list. */
export function readProjectsSearch(raw: RawSearch): ProjectsSearch {
  return { search: textIn(raw, 'search', 64), register: oneOf(raw, 'register', ['yes']) }
}

const TABS = ['secrets', 'requests'] as const
/** The tabs of a project behind the first, its keys. */
export type ProjectTab = (typeof TABS)[number]

/** What the address of a project says. */
export type ProjectSearch = {
  readonly tab?: ProjectTab | undefined
  readonly env?: string | undefined
  readonly range?: Range | undefined
}

/** Reads the address of a project. */
export function readProjectSearch(raw: RawSearch): ProjectSearch {
  const range = oneOf(raw, 'range', RANGES)
  return { tab: oneOf(raw, 'tab', TABS), env: textIn(raw, 'env', 64), range: range === '24h' ? undefined : range }
}
