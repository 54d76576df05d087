/** Prints results as a Markdown table. */
export function printTable(results) {
  console.log('| what | connections | requests/s | p50 ms | p99 ms | errors | server CPU | load CPU |')
  console.log('|---|---:|---:|---:|---:|---:|---:|---:|')
  for (const one of results) {
    const cells = [
      one.name,
      one.connections,
      one.perSecond === undefined ? 'not installed' : Math.round(one.perSecond).toLocaleString('en'),
      number(one.p50),
      number(one.p99),
      one.errors ?? '',
      percent(one.serverCpu),
      percent(one.loadCpu),
    ]
    console.log(`| ${cells.join(' | ')} |`)
  }
}

function number(ms) {
  return ms === undefined ? '' : ms.toFixed(2)
}

function percent(share) {
  return share === undefined || Number.isNaN(share) ? '' : `${Math.round(100 * share)} %`
}
