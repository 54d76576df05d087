/** Where to go after signing in: only to an address of this application. */
export function readNext(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !/^\/(?![/\\])/.test(raw)) return undefined
  const url = new URL(raw, location.origin)
  return url.origin === location.origin && !/^\/(login|register)/.test(url.pathname) ? raw : undefined
}
