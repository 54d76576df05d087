const BROWSERS = [
  ['Firefox', /Firefox\/(\d+)/],
  ['Edge', /Edg\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Chrome', /Chrom(?:e|ium)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
] as const
const SYSTEMS = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
] as const

/** A readable name for a User-Agent header: `Firefox 140 on Linux`. */
export function nameOfProgram(userAgent: string): string {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1]
    if (version === undefined) continue
    const system = SYSTEMS.find(([, sign]) => sign.test(userAgent))?.[0]
    return `${name} ${version}${system === undefined ? '' : ` on ${system}`}`
  }
  return userAgent.slice(0, 60) || 'Unknown browser'
}
