import { oneOf, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import { RANGES, type Range } from '../activity/queries.ts'

export type ProjectsSearch = {
  readonly search?: string | undefined
  /** Whether the form to register a project is open. */
  readonly register?: 'yes' | undefined
}

export function readProjectsSearch(raw: RawSearch): ProjectsSearch {
  return { search: textIn(raw, 'search', 64), register: oneOf(raw, 'register', ['yes']) }
}

const TABS = ['secrets', 'compare', 'environments', 'trust', 'references', 'webhooks', 'requests'] as const
export type ProjectTab = (typeof TABS)[number]

export type ProjectSearch = {
  readonly tab?: ProjectTab | undefined
  /** Whether expired and revoked keys are shown. */
  readonly ended?: 'yes' | undefined
  readonly env?: string | undefined
  readonly range?: Range | undefined
  /** The environments that are compared. */
  readonly left?: string | undefined
  readonly right?: string | undefined
  /** The id of the webhook whose deliveries are shown. */
  readonly webhook?: string | undefined
}

export function readProjectSearch(raw: RawSearch): ProjectSearch {
  const range = oneOf(raw, 'range', RANGES)
  return {
    tab: oneOf(raw, 'tab', TABS),
    ended: oneOf(raw, 'ended', ['yes']),
    env: textIn(raw, 'env', 64),
    range: range === '24h' ? undefined : range,
    left: textIn(raw, 'left', 64),
    right: textIn(raw, 'right', 64),
    webhook: textIn(raw, 'webhook', 36),
  }
}
