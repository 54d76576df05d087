import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { testAlerts } from './promtool.mjs'

const RULES = fileURLToPath(new URL('../../../../infra/prometheus/alerts.yml', import.meta.url))
/** Metrics whose values are seconds since 1970. They start at zero here, like the time of promtool. */
const TIMESTAMPS = /^(?:(?:process|service)_start_time_seconds|\w+_timestamp_seconds)$/

/** Scrapes a service like Prometheus does, one minute of Prometheus's time apart, and checks which alerts fire. */
export type AlertRecorder = {
  /**
   * Adds scrapes.
   *
   * @param minutes how many
   * @param between runs before each scrape: load, or an advance of the service's clock by a minute
   */
  scrape(minutes: number, between?: () => unknown): Promise<void>
  /** @throws with the output of promtool, unless exactly these alerts fire at the last scrape */
  expectFiring(...alerts: string[]): Promise<void>
}

/**
 * @param job the name of the service
 * @param now the time of the service, in milliseconds
 * @param without metrics that are not recorded: a state of a few seconds would seem to last for minutes
 */
export function recordAlerts(
  job: 'vault' | 'tracker',
  { url, now = Date.now, without }: { url: () => string; now?: () => number; without?: RegExp },
): AlertRecorder {
  const rules = readFileSync(RULES, 'utf8')
  const startedAt = Math.floor(now() / 1_000)
  const series = new Map<string, string[]>()
  let minute = 0

  /** A series that is missing from a scrape is stale. */
  const padded = (values: string[]): string[] => {
    while (values.length < minute) values.push('stale')
    return values
  }

  const add = (line: string): void => {
    const [, name = '', labels = '', value = ''] = /^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === '' || !rules.includes(name) || without?.test(name) === true) return
    const key = `${name}{${[`job="${job}"`, 'instance="here"', ...(labels === '' ? [] : [labels])].join(',')}}`
    const values = padded(series.get(key) ?? [])
    values[minute] = TIMESTAMPS.test(name) && Number(value) > 0 ? String(Number(value) - startedAt) : value
    series.set(key, values)
  }

  return {
    scrape: async (minutes, between = () => undefined) => {
      for (let i = 0; i < minutes; i += 1) {
        await between()
        const text = await fetch(`${url()}/metrics`).then(
          (answer) => answer.text(),
          () => undefined,
        )
        add(`up ${text === undefined ? 0 : 1}`)
        for (const line of text?.split('\n') ?? []) if (!line.startsWith('#')) add(line)
        minute += 1
      }
    },
    expectFiring: async (...alerts) => {
      const recorded = Object.fromEntries([...series].map(([name, values]) => [name, padded(values).join(' ')]))
      await testAlerts(RULES, [{ series: recorded, firing: [{ atMinute: minute - 1, alerts: alerts.toSorted() }] }])
    },
  }
}
