import { expect, test } from '@jest/globals'
import { parseRoleMapping, readRole, rolesOf } from './role-mapping.ts'

function mappingOf(text: string) {
  const parsed = parseRoleMapping(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.mapping
}

test('maps groups to roles and projects', () => {
  expect(
    mappingOf(' admins = administrator ; cn=shop,ou=teams=editor: shop, shop-eu;/keycloak/audit=auditor;'),
  ).toEqual([
    { group: 'admins', role: 'administrator' },
    { group: 'cn=shop,ou=teams', role: 'editor:shop,shop-eu' },
    { group: '/keycloak/audit', role: 'auditor' },
  ])
})

test.each([
  '',
  ' ; ',
  'admins',
  '=administrator',
  'admins=',
  'admins=root',
  'admins=holder',
  'admins=Administrator',
  'admins=administrator;;ops=editor',
  'admins=editor:',
  'admins=editor:shop,',
  'admins=editor:shop blog',
  'admins=ad ministrator',
  'admins=editor:-shop',
  'admins=editor:shop:blog',
  'admins=constructor',
  `${'x'.repeat(257)}=editor`,
  Array.from({ length: 501 }, (_, i) => `group-${String(i)}=editor`).join(';'),
])('refuses %j without repeating it', (text) => {
  const parsed = parseRoleMapping(text)
  expect(parsed).toEqual({ problem: expect.any(String) })
  expect(JSON.stringify(parsed)).not.toMatch(/admins|shop|root|xxx/)
})

test('several groups add up, and no other value is a group', () => {
  const mapping = mappingOf('shop=editor:shop; audit=auditor; ops=auditor; shop=auditor:blog')
  expect(rolesOf(mapping, ['ops', 'shop', 'audit', 'shop'])).toEqual(['editor:shop', 'auditor', 'auditor:blog'])
  expect(rolesOf(mapping, ['__proto__', 'constructor', 'toString', 'SHOP', ''])).toEqual([])
})

test('reads the role of a session', () => {
  expect(readRole('auditor')).toEqual({ role: 'auditor', projects: null })
  expect(readRole('editor:shop,shop,blog')).toEqual({ role: 'editor', projects: ['shop', 'blog'] })
  expect(readRole('holder')).toBeUndefined()
})
