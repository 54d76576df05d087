import type { IconName } from '@vault-and-tracker/web-kit/icon'

type Role = 'moderator' | 'admin'

/** A staff page and the lowest role that may open it. */
export type Section = {
  readonly to:
    | '/admin'
    | '/admin/swarms'
    | '/admin/clients'
    | '/admin/moderation'
    | '/admin/reports'
    | '/admin/categories'
    | '/admin/users'
    | '/admin/torznab'
    | '/admin/rules'
    | '/admin/site'
    | '/admin/log'
  readonly name: string
  readonly what: string
  readonly icon: IconName
  readonly role: Role
}

const SECTIONS: readonly Section[] = [
  { to: '/admin', name: 'Overview', icon: 'grid', what: 'Numbers and links to all staff pages', role: 'moderator' },
  { to: '/admin/moderation', name: 'Moderation', icon: 'shield', what: 'Uploads awaiting approval', role: 'moderator' },
  { to: '/admin/reports', name: 'Reports', icon: 'flag', what: 'Torrents reported by members', role: 'moderator' },
  {
    to: '/admin/swarms',
    name: 'Swarms',
    icon: 'network',
    what: 'Peers and announces, now and over time',
    role: 'moderator',
  },
  {
    to: '/admin/clients',
    name: 'Clients',
    icon: 'software',
    what: 'BitTorrent clients in use, and which can announce',
    role: 'admin',
  },
  {
    to: '/admin/categories',
    name: 'Categories',
    icon: 'folder',
    what: 'Category tree, order and Torznab IDs',
    role: 'admin',
  },
  {
    to: '/admin/users',
    name: 'Users',
    icon: 'users',
    what: 'Roles, bans, permissions, invites, sessions and passkeys',
    role: 'admin',
  },
  {
    to: '/admin/torznab',
    name: 'Torznab',
    icon: 'signal',
    what: 'Usage, limits, requests and blocks of automation tools',
    role: 'admin',
  },
  {
    to: '/admin/rules',
    name: 'Rules',
    icon: 'book',
    what: 'The rules of the site and who accepted them',
    role: 'admin',
  },
  {
    to: '/admin/site',
    name: 'Site',
    icon: 'sliders',
    what: 'Name, appearance, registration, approval and site-wide rates',
    role: 'admin',
  },
  { to: '/admin/log', name: 'Log', icon: 'list', what: 'Actions of administrators and moderators', role: 'admin' },
]

/** The pages that a role may open. */
export function sectionsFor(role: 'member' | Role): readonly Section[] {
  if (role === 'admin') return SECTIONS
  return role === 'moderator' ? SECTIONS.filter((section) => section.role === 'moderator') : []
}
