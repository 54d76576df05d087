const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

/** Bytes with the largest unit that fits, such as `1.5 GiB`. */
export function sizeText(bytes: number, maxDecimals: number): string {
  let [rest, unit] = [Math.abs(bytes), 0]
  for (; rest >= 1024 && unit < UNITS.length - 1; unit += 1) rest /= 1024
  return `${bytes < 0 ? '-' : ''}${Number(rest.toFixed(maxDecimals))} ${UNITS[unit] ?? ''}`
}
