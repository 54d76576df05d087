import type { Guard, ReadBody, Serving } from '@vault-and-tracker/rest'
import { clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request } from 'express'
import { apiError, type ErrorCode } from '../errors.ts'
import { bearerOf } from '../http/bearer.ts'
import type { ReadRequestBody } from '../http/input.ts'
import type { ApplyLimit } from '../http/limits.ts'
import type { LimitKind, SignedInUser } from '../surface.ts'
import type { ApiTokens, TokenRequest, TokenVerdict } from '../tokens/api-tokens.ts'
import { subjectOf } from './links.ts'

/** A caller, with the form if the guard has read it. */
type TokenUser = SignedInUser & { readonly form?: ReadBody }

/** `token` has an API token, `link` the key of a link, and `session` is a browser. */
export type Unit3dSurface = {
  callers: { token: TokenUser; link: SignedInUser; session: SignedInUser }
  limit: LimitKind
  code: ErrorCode
}

type Admit = (
  find: (request: TokenRequest) => Promise<TokenVerdict>,
  ...request: Parameters<Guard<Unit3dSurface, SignedInUser>>
) => Promise<SignedInUser>

/**
 * Admits requests with an API token as UNIT3D takes it: the parameter `api_token`, the form field of this name or a Bearer
 * token; and downloads with the key in their link.
 *
 * @param deps `readForm` reads the form of a client who is not yet known
 * @returns the guards, and the reader of bodies, which returns a form that a guard has read
 */
export function createUnit3dGuards(deps: {
  tokens: Pick<ApiTokens, 'find' | 'findByLink'>
  admit: Admit
  proxies: TrustedProxies
  applyLimit: ApplyLimit
  readBody: ReadRequestBody
  readForm: ReadRequestBody
}): {
  readonly token: Guard<Unit3dSurface, TokenUser>
  readonly link: Guard<Unit3dSurface, SignedInUser>
  readonly readBody: Serving<Unit3dSurface>['readBody']
} {
  const { tokens, admit } = deps

  return {
    token: async (endpoint, request, response) => {
      const text = tokenOf(request)
      if (text !== undefined) return admit((asked) => tokens.find(text, asked), endpoint, request, response)
      const visitor = { address: clientAddress(request, deps.proxies), session: undefined, pending: undefined }
      await deps.applyLimit(endpoint.limit, request, response, visitor)
      if (endpoint.upload === undefined || request.is('multipart/form-data') === false) throw missing()
      const form = await deps.readForm(endpoint, request, response, visitor)
      try {
        const field = fieldOf(form.body)
        if (field === undefined) throw missing()
        return { ...(await admit((asked) => tokens.find(field, asked), endpoint, request, response)), form }
      } catch (error) {
        form.release?.()
        throw error
      }
    },

    link: (endpoint, request, response) => {
      const number = String(request.params['file']).replace(/\.torrent$/, '')
      const key = parameterOf(request, 'rsskey') ?? ''
      return admit((asked) => tokens.findByLink(key, subjectOf(number), asked), endpoint, request, response)
    },

    readBody: async (endpoint, request, response, caller) =>
      ('form' in caller ? caller.form : undefined) ?? deps.readBody(endpoint, request, response, caller),
  }
}

/** The token of a request, except for one in a form. */
export function tokenOf(request: Request): string | undefined {
  return parameterOf(request, 'api_token') ?? bearerOf(request)
}

function missing(): Error {
  return apiError('UNAUTHORIZED', 'Send an API token as api_token or in the Authorization header.')
}

function parameterOf(request: Request, name: string): string | undefined {
  return new URLSearchParams(request.url.split('?')[1]).get(name) || undefined
}

function fieldOf(body: unknown): string | undefined {
  const field: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'api_token') : undefined
  return typeof field === 'string' && field !== '' ? field : undefined
}
