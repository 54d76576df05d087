import { undocumentedAnswer } from '@vault-and-tracker/rest/testing'
import { ENDPOINTS } from '../../src/app.ts'
import { ERRORS } from '../../src/errors.ts'
import { codesOf } from '../../src/surface.ts'

/** UNIT3D's API, which another project documents. */
const UNIT3D = /^\/api\/(user|torrents\/(upload|filter|\d*))$/

/** Fails if openapi.json does not document the answer for the operation. */
export function requireDocumented(method: string, path: string, answer: { status: number; json: unknown }): void {
  const { pathname } = new URL(path, 'http://tracker.test')
  if (UNIT3D.test(pathname)) return
  const { status, json: body } = answer
  const { code } = (body as { error?: { code?: string } } | undefined)?.error ?? {}
  const problem = undocumentedAnswer(ENDPOINTS, codesOf, ERRORS, { method, pathname, status, body, code })
  if (problem !== undefined) throw new Error(problem)
}
