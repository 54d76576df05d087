import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

/** The row of a project: what it demands of its requests, and how often it or its keys were changed. */
export type ProjectRow = {
  readonly uid: string
  readonly name: string
  readonly requireContentDigest: boolean
  readonly generation: number
}

/** The row of a key. It counts for one generation of its project only. */
export type KeyRow = {
  readonly id: string
  readonly publicKey: Uint8Array
  readonly createdAt: Date
  readonly notAfter: Date | null
  readonly access: string
  readonly envs: readonly string[] | null
}

/** An environment: the names of all its secrets with their current versions, in any order. */
export type EnvironmentRow = {
  readonly projectUid: string
  readonly env: string
  readonly revision: number
  readonly current: readonly { readonly key: string; readonly version: number }[]
}

/** The row of a named administrator. */
export type AdministratorRow = {
  readonly id: string
  readonly name: string
  readonly tokenHash: Uint8Array
  readonly role: string
  readonly projects: readonly string[] | null
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

/** A project that a named administrator was given by its name. */
export type AdministratorProjectRow = {
  readonly administratorId: string
  readonly name: string
  readonly projectUid: string
}

/** Makes the codes of rows that decide access. */
export type RowCodes = ReturnType<typeof createRowCodes>

/**
 * Codes of rows, HMAC-SHA-256 (RFC 2104) with a key that only the keyring opens: whoever can write to the database
 * alone cannot make one.
 *
 * @param chainKey the first key of the audit chain; the key of the codes is derived from it
 */
export function createRowCodes(chainKey: KeyObject) {
  const key = createSecretKey(createHmac('sha256', chainKey).update('vault/row-codes/1').digest())
  const codeOf = (kind: string, columns: readonly (string | null)[]): Buffer =>
    createHmac('sha256', key)
      .update(`vault/row/${kind}/1;${encodeColumns(columns)}`)
      .digest()

  return {
    project: ({ uid, name, requireContentDigest, generation }: ProjectRow): Buffer =>
      codeOf('project', [uid, name, String(requireContentDigest), String(generation)]),

    key: ({ uid, generation }: Pick<ProjectRow, 'uid' | 'generation'>, row: KeyRow): Buffer =>
      codeOf('project-key', [
        ...[uid, String(generation), row.id, Buffer.from(row.publicKey).toString('hex')],
        ...[timeOf(row.createdAt), timeOf(row.notAfter), row.access, listOf(row.envs)],
      ]),

    environment: ({ projectUid, env, revision, current }: EnvironmentRow): Buffer => {
      const sorted = current.toSorted((a, b) => (a.key < b.key ? -1 : 1))
      const columns = sorted.flatMap(({ key: name, version }) => [name, String(version)])
      return codeOf('environment', [projectUid, env, String(revision), ...columns])
    },

    administrator: (row: AdministratorRow): Buffer =>
      codeOf('administrator', [
        ...[row.id, row.name, Buffer.from(row.tokenHash).toString('hex'), row.role],
        ...[listOf(row.projects), timeOf(row.createdAt), timeOf(row.expiresAt)],
      ]),

    administratorProject: ({ administratorId, name, projectUid }: AdministratorProjectRow): Buffer =>
      codeOf('administrator-project', [administratorId, name, projectUid]),
  }
}

/** Whether a stored code is the expected one, in constant time. Null is that of a row that was never authenticated. */
export function isCode(expected: Buffer, stored: Buffer | null): boolean {
  return stored !== null && stored.length === expected.length && timingSafeEqual(stored, expected)
}

/** Each column after its length; null differs from the empty text. No two lists of columns give the same text. */
export function encodeColumns(columns: readonly (string | null)[]): string {
  let text = ''
  for (const column of columns) text += column === null ? '-;' : `${String(Buffer.byteLength(column))}:${column}`
  return text
}

function timeOf(time: Date | null): string | null {
  if (time === null) return null
  // `infinity` in the database is no Date.
  const ms = Number(time)
  return Number.isFinite(ms) ? new Date(ms).toISOString() : String(ms)
}

function listOf(texts: readonly string[] | null): string | null {
  return texts === null ? null : encodeColumns(texts)
}
