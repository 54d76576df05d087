import { createSecretKey } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { createAuthenticRows, type ProjectKey, type StoredProject } from './rows.ts'

const rows = createAuthenticRows(createSecretKey(Buffer.alloc(32, 7)), () => undefined)
const createdAt = new Date('2026-01-02T03:04:05.678Z')
const key: ProjectKey = {
  id: '01900000-0000-7000-8000-000000000002',
  name: 'default',
  publicKey: Buffer.alloc(32, 1),
  createdAt,
  notAfter: new Date('2026-02-02T03:04:05.678Z'),
  expiresAt: null,
  revokedAt: null,
  scope: { access: 'read', envs: ['staging'] },
  lastUsedAt: null,
}
const project: StoredProject = {
  ...{ uid: '01900000-0000-7000-8000-000000000001', name: 'shop', requireContentDigest: false, createdAt },
  ...{ generation: 3, keys: [key] },
}
const codeOf = (change: Partial<ProjectKey>) =>
  rows.sealProject({ ...project, keys: [{ ...key, ...change }] }).keys[0]?.code?.toString('hex')

test('a key without a name and an expiry has the code of release 0.1', () => {
  expect(rows.sealProject(project).code?.toString('hex')).toBe(
    '0c9747eff37daeb7b63cfa5d7416dadfe551b1469811b61ea1f3fb4e057fdf03',
  )
  expect(codeOf({})).toBe('f3434499591ce8e9e34ebaea7b24ba1832dc157f1907220f600bce7fc58d1ccf')
})

test('a code covers the name and the expiry, and no two keys have the same code', () => {
  const at = new Date('2027-01-01T00:00:00.000Z')
  const codes = [
    ...[{}, { name: 'ci' }, { name: 'CI' }, { expiresAt: at }, { name: 'ci', expiresAt: at }],
    ...[{ name: 'expires_at' }, { name: at.toISOString() }, { id: '01900000-0000-7000-8000-000000000003' }],
  ].map(codeOf)
  expect(new Set(codes).size).toBe(codes.length)
})

test('opens only the keys that were sealed', () => {
  const sealed = rows.sealProject(project)
  const renamed = { ...sealed, keys: sealed.keys.map((each) => ({ ...each, name: 'admin' })) }
  expect(rows.openProject(sealed).keys).toEqual([key])
  expect(rows.openProject(renamed).keys).toEqual([])
})
