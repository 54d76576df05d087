import { undocumentedAnswer } from '@vault-and-tracker/rest/testing'
import { ENDPOINTS } from '../../src/app.ts'
import { ERRORS } from '../../src/errors.ts'
import { codesOf } from '../../src/http/surface.ts'

/** Fails where the vault answered with what openapi.json does not have for the operation. */
export function requireDocumented(method: string, url: string, answer: { status: number; body: unknown }): void {
  // As it was sent: the vault takes paths literally, and `URL` would resolve `..`.
  const pathname = /^https?:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? ''
  const code = (answer.body as { error?: string } | undefined)?.error
  const problem = undocumentedAnswer(ENDPOINTS, codesOf, ERRORS, { method, pathname, ...answer, code })
  if (problem !== undefined) throw new Error(problem)
}
