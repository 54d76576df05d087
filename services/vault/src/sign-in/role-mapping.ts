import { ROLES, type Role } from '../access/administrator.ts'
import { PROJECT_NAME } from '../access/names.ts'

/** The role that a group grants in some projects; null for all. */
export type MappedRole = { readonly role: Role; readonly projects: readonly string[] | null }

/** Which groups have which roles. A group may occur several times. */
export type RoleMapping = readonly { readonly group: string; readonly role: string }[]

const MAX_ENTRIES = 500
const MAX_GROUP_LENGTH = 256
const MAX_PROJECTS = 100

/**
 * Parses `group=role; group=role:project,project`. The last `=` of an entry separates its group, because distinguished
 * names (RFC 4514) contain some.
 *
 * @returns the problem if there is one, which does not repeat the text
 */
export function parseRoleMapping(text: string): { mapping: RoleMapping } | { problem: string } {
  const entries = text.split(';').map((entry) => entry.trim())
  if (entries.at(-1) === '') entries.pop()
  if (entries.length === 0) return { problem: 'must map a group to a role' }
  if (entries.length > MAX_ENTRIES) return { problem: `must have at most ${String(MAX_ENTRIES)} entries` }
  const mapping: { group: string; role: string }[] = []
  for (const [i, entry] of entries.entries()) {
    const at = entry.lastIndexOf('=')
    const group = entry.slice(0, Math.max(0, at)).trim()
    const text = entry.slice(at + 1).trim()
    const role = readRole(text.replaceAll(/\s*([:,])\s*/g, '$1'))
    if (group === '' || group.length > MAX_GROUP_LENGTH || role === undefined)
      return {
        problem:
          `entry ${String(i + 1)} must be <group>=<role> or <group>=<role>:<project>,<project>, with the role ` +
          ROLES.join(', ').replace(/, ([^,]*)$/, ' or $1'),
      }
    mapping.push({ group, role: roleText(role) })
  }
  return { mapping }
}

/** Returns the roles of someone who is in these groups, as text without duplicates. */
export function rolesOf(mapping: RoleMapping, groups: readonly string[]): readonly string[] {
  const own = new Set(groups)
  return [...new Set(mapping.filter(({ group }) => own.has(group)).map(({ role }) => role))]
}

/** Reads `role` or `role:project,project`; undefined if it is neither. */
export function readRole(text: string): MappedRole | undefined {
  const [name = '', list, ...more] = text.split(':')
  const role = ROLES.find((known) => known === name)
  if (role === undefined || more.length > 0) return undefined
  if (list === undefined) return { role, projects: null }
  const projects = [...new Set(list.split(','))]
  const areNames = projects.every((project) => PROJECT_NAME.test(project)) && projects.length <= MAX_PROJECTS
  return areNames ? { role, projects } : undefined
}

function roleText({ role, projects }: MappedRole): string {
  return projects === null ? role : `${role}:${projects.join(',')}`
}
