import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../processes/command.mjs'
import { requireProgram } from '../processes/programs.mjs'

/**
 * Series with one value a minute in the notation of promtool (`1 0x5`, `_` for none), and the alerts that fire at a minute.
 *
 * @typedef {{ series: Readonly<Record<string, string>>, firing: readonly { atMinute: number, alerts: readonly string[] }[] }} AlertCase
 */

/**
 * Lets Prometheus evaluate alert rules over series, each case separately.
 *
 * @param {string} rules the file of the rules
 * @param {readonly AlertCase[]} cases
 * @throws with the output of promtool, unless exactly the alerts of each case fire
 */
export async function testAlerts(rules, cases) {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'))
  const file = join(folder, 'alerts.test.json')
  const tests = cases.map(({ series, firing }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: firing.map(({ atMinute, alerts }) => ({
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${atMinute}m`,
      exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
    })),
  }))
  // YAML is a superset of JSON.
  writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }))
  try {
    await promtool('test', 'rules', file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs promtool. @param {...string} args @throws with its output, if it fails */
export async function promtool(...args) {
  await run(await requireProgram('promtool', { debianPackage: 'prometheus' }), args)
}
