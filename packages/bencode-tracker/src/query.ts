const EQUALS = 0x3d
const AMPERSAND = 0x26

/** Where the parameter name that starts at `start` ends: at `=`, at `&`, or at the end of the query. */
export function nameEnd(query: string, start: number): number {
  let i = start
  for (; i < query.length; i++) {
    const code = query.charCodeAt(i)
    if (code === EQUALS || code === AMPERSAND) break
  }
  return i
}

/** Where the parameter value that starts at `start` ends: at `&`, or at the end of the query. */
export function valueEnd(query: string, start: number): number {
  const end = query.indexOf('&', start)
  return end === -1 ? query.length : end
}

/**
 * Where a passkey that starts at `start` and would end at `end` really ends. Some clients append their parameters to
 * our announce URL with a second `?` (`?passkey=x?info_hash=…`), and the passkey is what stands in front of it.
 */
export function passkeyEnd(query: string, start: number, end: number): number {
  const second = query.indexOf('?', start)
  return second === -1 || second > end ? end : second
}
