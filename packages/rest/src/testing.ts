import { isDeepStrictEqual } from 'node:util'
import type { Express, Router } from 'express'
import type { Description, Surface } from './endpoint.ts'

/** An answer that a test received. `code` is that of an error, read from the service's own error body. */
export type AnswerCheck = {
  readonly method: string
  readonly pathname: string
  readonly status: number
  readonly body: unknown
  readonly code: string | undefined
}

/**
 * Holds an answer against the description of its endpoint: the status, and the schema of the body or the error code.
 *
 * @param codesOf the codes an endpoint can answer, those of its guards included
 * @param table the service's error table
 * @returns what is not documented, or undefined; answers of paths that no endpoint has are not judged
 */
export function undocumentedAnswer<S extends Surface>(
  endpoints: readonly Description<S>[],
  codesOf: (endpoint: Description<S>) => readonly string[],
  table: Readonly<Record<string, { readonly status: number }>>,
  { method, pathname, status, body, code }: AnswerCheck,
): string | undefined {
  const endpoint = endpoints.find((each) => each.method === method && pattern(each.path).test(pathname))
  if (endpoint === undefined) return undefined
  const name = `${method} ${endpoint.path}`
  if (status >= 400)
    return code !== undefined && codesOf(endpoint).includes(code) && table[code]?.status === status
      ? undefined
      : `${name} answered ${String(status)} ${String(code)}, which is not documented`
  if (status !== endpoint.status) return `${name} answered ${String(status)}, documented is ${String(endpoint.status)}`
  if (endpoint.answer === undefined || method === 'HEAD') return undefined
  const parsed = endpoint.answer.safeParse(body)
  return parsed.success && isDeepStrictEqual(parsed.data, withoutProto(body))
    ? undefined
    : `${name} answered a body that does not fit its schema: ${parsed.error?.message ?? 'unknown members'}`
}

/** Schemas leave a member of this name out of what they parse. */
function withoutProto(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => (name === '__proto__' ? undefined : value))
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
}

/** The paths of all routes of an app, as OpenAPI writes them, sorted and each once. */
export function routesOf(app: Express): readonly string[] {
  return [...new Set(pathsOf(app.router))].toSorted()
}

function pathsOf(router: Router): readonly string[] {
  return router.stack.flatMap(({ route, handle }) => {
    if (route !== undefined) return [route.path].flat().map((path) => path.replaceAll(/:(\w+)/g, '{$1}'))
    return 'stack' in handle ? pathsOf(handle as unknown as Router) : []
  })
}

/**
 * Where a body that a request may have, or an object inside it, takes unknown members. A sender of a misspelt one would not
 * learn of it.
 *
 * @param paths those of an OpenAPI document
 */
export function openBodiesIn(paths: object): readonly string[] {
  return openObjectsIn(paths, '', false)
}

function openObjectsIn(value: unknown, place: string, isBody: boolean): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const isOpen = isBody && 'properties' in value && !('additionalProperties' in value)
  const below = Object.entries(value).flatMap(([name, member]) =>
    openObjectsIn(member, `${place}/${name}`, isBody ? name !== 'responses' : name === 'requestBody'),
  )
  return isOpen ? [place, ...below] : below
}
