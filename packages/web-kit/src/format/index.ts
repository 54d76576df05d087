export { formatBytes, formatCount, formatRatio } from './numbers.ts'
export { formatAge, formatDuration, formatExactTime } from './time.ts'
