type Role = 'moderator' | 'admin'

/** A staff page and the lowest role that may open it. */
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
  { to: '/admin', name: 'Overview', what: 'Numbers and links to all staff pages', role: 'moderator' },
  { to: '/admin/moderation', name: 'Moderation', what: 'Uploads awaiting approval', role: 'moderator' },
  { to: '/admin/swarms', name: 'Swarms', what: 'Peers and announces, now and over time', role: 'moderator' },
  { to: '/admin/categories', name: 'Categories', what: 'Category tree, order and Torznab IDs', role: 'admin' },
  {
    to: '/admin/users',
    name: 'Users',
    what: 'Roles, bans, permissions, invites, sessions and passkeys',
    role: 'admin',
  },
  {
    to: '/admin/torznab',
    name: 'Torznab',
    what: 'Usage, limits, request log and blocks of the API for automation tools',
    role: 'admin',
  },
  { to: '/admin/site', name: 'Site', what: 'Site-wide rates and freeleech', role: 'admin' },
  { to: '/admin/log', name: 'Log', what: 'Actions of administrators and moderators', role: 'admin' },
]

/** The pages that a role may open. */
export function sectionsFor(role: 'member' | Role): readonly Section[] {
  if (role === 'admin') return SECTIONS
  return role === 'moderator' ? SECTIONS.filter((section) => section.role === 'moderator') : []
}
