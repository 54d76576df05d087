import type { Request } from 'express'

/** The token of an Authorization header (RFC 6750). It may be the credential of a proxy. */
export function bearerOf(request: Request): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.get('authorization') ?? '')?.[1]
}
