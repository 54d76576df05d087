type Role = 'moderator' | 'admin'

/** A page of the staff, and who of them may open it. */
export type Section = {
  readonly to:
    | '/admin'
    | '/admin/swarms'
    | '/admin/moderation'
    | '/admin/categories'
    | '/admin/users'
    | '/admin/torznab'
    | '/admin/site'
    | '/admin/log'
  readonly name: string
  readonly what: string
  readonly role: Role
}

const SECTIONS: readonly Section[] = [
  { to: '/admin', name: 'Overview', what: 'What the staff can do here', role: 'moderator' },
  { to: '/admin/moderation', name: 'Moderation', what: 'Uploads that wait for approval', role: 'moderator' },
  { to: '/admin/swarms', name: 'Swarms', what: 'Peers and announces, now and over time', role: 'moderator' },
  { to: '/admin/categories', name: 'Categories', what: 'The tree, its order and its Torznab ids', role: 'admin' },
  { to: '/admin/users', name: 'Users', what: 'Roles, states, rights, invites, sessions, passkeys', role: 'admin' },
  {
    to: '/admin/torznab',
    name: 'Torznab',
    what: 'Use, limits, request log and blocks of the API for automation tools',
    role: 'admin',
  },
  { to: '/admin/site', name: 'Site', what: 'Freeleech for everybody', role: 'admin' },
  { to: '/admin/log', name: 'Log', what: 'What administrators and moderators did', role: 'admin' },
]

/** The pages that somebody of this role may open. */
export function sectionsFor(role: 'member' | Role): readonly Section[] {
  if (role === 'admin') return SECTIONS
  return role === 'moderator' ? SECTIONS.filter((section) => section.role === 'moderator') : []
}
