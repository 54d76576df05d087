import { isDeepStrictEqual } from 'node:util'
import type { Express, Router } from 'express'
import type { Description, Surface } from './endpoint.ts'

/** A response that a test received. `code` is the code of an error, read from its body. */
export type AnswerCheck = {
  readonly method: string
  readonly pathname: string
  readonly status: number
  readonly body: unknown
  readonly code: string | undefined
}

/**
 * Compares a response with the description of its endpoint: the status, and the schema of the body or the error code.
 *
 * @param codesOf the codes that an endpoint can answer, including those of its guards
 * @param table the service's error table
 * @returns the difference, or undefined if there is none or no endpoint has this path
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
  if (status === 304 && endpoint.isConditional === true) return undefined
  if (status !== endpoint.status) return `${name} answered ${String(status)} instead of ${String(endpoint.status)}`
  if (endpoint.answer === undefined || method === 'HEAD') return undefined
  const parsed = endpoint.answer.safeParse(body)
  return parsed.success && isDeepStrictEqual(parsed.data, withoutProto(body))
    ? undefined
    : `${name} answered a body that does not match its schema: ${parsed.error?.message ?? 'unknown members'}`
}

/** Schemas drop a member with this name. */
function withoutProto(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => (name === '__proto__' ? undefined : value))
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
}

/** The distinct paths of all routes of an app in OpenAPI's notation, sorted. */
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
 * The places where a request body, or an object in it, accepts unknown members. A misspelt member would be ignored there.
 *
 * @param paths the paths of an OpenAPI document
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
