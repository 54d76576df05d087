export { Ago } from './ago.tsx'
export { formatBytes, formatCount, formatNumberOf, formatRatio } from './numbers.ts'
export { formatAge, formatDate, formatDuration, formatExactTime } from './time.ts'
