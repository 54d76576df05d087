import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capture, Fault, findProgram } from '../processes/command.mjs'

/**
 * Series, each with a value a minute in the notation of promtool (`1 0x5`, `_` for none), and which alerts fire when.
 *
 * @typedef {{ series: Readonly<Record<string, string>>, firing: readonly { atMinute: number, alerts: readonly string[] }[] }} AlertCase
 */

/**
 * Has Prometheus evaluate alert rules over series, each case by itself, in its own time.
 *
 * @param {string} rules the file of the rules
 * @param {readonly AlertCase[]} cases
 * @throws {Fault} with what promtool says, when other alerts fire than those that a case names
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
    const { code, output } = await capture(promtool(), ['test', 'rules', file])
    if (code !== 0) throw new Fault(output)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Checks the syntax of rules, or of a whole configuration. @param {'rules' | 'config'} kind @param {string} file */
export async function checkPrometheusFile(kind, file) {
  const { code, output } = await capture(promtool(), ['check', kind, file])
  if (code !== 0) throw new Fault(output)
}

/** Where promtool is. */
function promtool() {
  const found = findProgram('promtool')
  if (found === undefined) throw new Fault('promtool is not installed (Debian: apt-get install prometheus)')
  return found
}
