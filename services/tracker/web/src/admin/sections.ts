type Role = 'moderator' | 'admin'

/** A page of the staff, and who of them may open it. */
export type Section = {
  readonly to: '/admin'
  readonly name: string
  readonly what: string
  readonly role: Role
}

const SECTIONS: readonly Section[] = [
  { to: '/admin', name: 'Overview', what: 'What the staff can do here', role: 'moderator' },
]

/** The pages that somebody of this role may open. */
export function sectionsFor(role: 'member' | Role): readonly Section[] {
  if (role === 'admin') return SECTIONS
  return role === 'moderator' ? SECTIONS.filter((section) => section.role === 'moderator') : []
}
