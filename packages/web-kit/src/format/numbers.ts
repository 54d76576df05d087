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

/** A number with thousands separators: `12,345`. */
export function formatCount(count: number): string {
  return counts.format(count)
}

/** Uploaded divided by downloaded, with two digits. Null means that nothing was downloaded. */
export function formatRatio(ratio: number | null): string {
  return ratio === null ? '∞' : ratio.toFixed(2)
}

/** `1 torrent`, `12,345 torrents`. */
export function formatNumberOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
