const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const STEP = 1_024
const counts = new Intl.NumberFormat('en')

/** A size in bytes with three digits and a binary unit: `1.46 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // 999.5 would be shown with four digits.
  while (Math.abs(value) >= 999.5 && unit < UNITS.length - 1) {
    value /= STEP
    unit += 1
  }
  const text = unit === 0 ? String(Math.round(value)) : threeDigits(value)
  return `${text} ${UNITS[unit] ?? 'B'}`
}

function threeDigits(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2)
}

/** A whole number with its thousands apart: `12,345`. */
export function formatCount(count: number): string {
  return counts.format(count)
}

/** Uploaded divided by downloaded with two digits; null, when nothing was downloaded, is infinity. */
export function formatRatio(ratio: number | null): string {
  return ratio === null ? '∞' : ratio.toFixed(2)
}
