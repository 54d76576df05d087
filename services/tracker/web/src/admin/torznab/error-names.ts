/** The errors of logged Torznab requests in words, by their code. */
const NAMES: Readonly<Record<string, string>> = {
  101: 'account suspended',
  102: 'not allowed',
  201: 'incorrect parameter',
  300: 'no such function or item',
  500: 'limit reached',
  900: 'fault of the service',
}

export const ERROR_CODES = Object.keys(NAMES)

/** `500 limit reached`. */
export function errorText(code: number | string): string {
  const name = NAMES[String(code)]
  return name === undefined ? String(code) : `${code} ${name}`
}
