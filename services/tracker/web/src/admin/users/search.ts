import { oneOf, pageIn, type RawSearch, textIn } from '@vault-and-tracker/web-kit/address'
import { ROLE_NAMES } from '../../standing/role-names.ts'

export const ROLES = ['member', 'moderator', 'admin'] as const
export const STATES = ['active', 'suspended', 'banned'] as const
export type Role = (typeof ROLES)[number]
export type State = (typeof STATES)[number]

export const STATE_NAMES = { active: 'Active', suspended: 'Suspended', banned: 'Banned' } as const

export const ROLE_CHOICES = ROLES.map((role) => [role, ROLE_NAMES[role]] as const)
export const STATE_CHOICES = STATES.map((state) => [state, STATE_NAMES[state]] as const)

/** The address of the list. */
export type UsersSearch = {
  readonly search?: string | undefined
  readonly role?: Role | undefined
  readonly state?: State | undefined
  readonly page?: number | undefined
}

export function readUsersSearch(raw: RawSearch): UsersSearch {
  return {
    search: textIn(raw, 'search'),
    role: oneOf(raw, 'role', ROLES),
    state: oneOf(raw, 'state', STATES),
    page: pageIn(raw),
  }
}

/** The address of the list of addresses. */
export type AddressSearch = {
  /** A name or an id. */
  readonly user?: string | undefined
  readonly address?: string | undefined
  readonly page?: number | undefined
}

export function readAddressSearch(raw: RawSearch): AddressSearch {
  return { user: textIn(raw, 'user', 64), address: textIn(raw, 'address', 50), page: pageIn(raw) }
}
