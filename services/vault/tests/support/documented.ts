import { undocumentedAnswer } from '@vault-and-tracker/rest/testing'
import { ENDPOINTS } from '../../src/app.ts'
import { ERRORS } from '../../src/errors.ts'
import { codesOf } from '../../src/http/surface.ts'

/** Fails unless openapi.json documents the response for the operation. */
export function requireDocumented(method: string, url: string, answer: { status: number; body: unknown }): void {
  // Not parsed with `URL`, which would resolve `..`: the vault takes paths literally.
  const pathname = /^https?:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? ''
  const code = (answer.body as { error?: string } | undefined)?.error
  const problem = undocumentedAnswer(ENDPOINTS, codesOf, ERRORS, { method, pathname, ...answer, code })
  if (problem !== undefined) throw new Error(problem)
}
