import type { Result } from './job.ts'

/** A line of the table; only the name and the number of connections where a tool is not installed. */
export type Line = Partial<Result> & { name: string; connections: number; serverCpu?: number }

/** A line of the table of growth. */
export type Growth = Result & { secrets: number; bytes: number }

/** Prints results as a Markdown table. */
export function printTable(results: readonly Line[]): void {
  console.log(
    '| what | connections | requests/s | p50 ms | p99 ms | errors | server CPU | µs of it a request | load CPU |',
  )
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|---:|')
  for (const one of results) {
    const cells = [
      one.name,
      one.connections,
      one.perSecond === undefined ? 'not installed' : Math.round(one.perSecond).toLocaleString('en'),
      number(one.p50),
      number(one.p99),
      one.errors ?? '',
      percent(one.serverCpu),
      one.serverCpu && one.perSecond ? Math.round((1e6 * one.serverCpu) / one.perSecond) : '',
      percent(one.loadCpu),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

/** Prints how the cost grows with the number of secrets. */
export function printGrowth(results: readonly Growth[]): void {
  console.log('| secrets | body bytes | requests/s | p50 ms | p99 ms | errors | p50 µs a secret |')
  console.log('|---:|---:|---:|---:|---:|---:|---:|')
  for (const { secrets, bytes, perSecond, p50, p99, errors } of results) {
    const rate = perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en')
    const each = ((1000 * p50) / secrets).toFixed(1)
    console.log(`| ${[secrets, bytes, rate, number(p50), number(p99), errors, each].join(' | ')} |`)
  }
}

function number(ms: number | undefined): string {
  return ms === undefined ? '' : ms.toFixed(2)
}

function percent(share: number | undefined): string {
  return share === undefined || Number.isNaN(share) ? '' : `${Math.round(100 * share)} %`
}
