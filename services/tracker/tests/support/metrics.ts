import type { TestTracker } from './tracker.ts'

/**
 * The value of a metric now.
 *
 * @param line its name, labels included, as /metrics has it
 * @throws when there is no such line
 */
export async function metricOf(tracker: TestTracker, line: string): Promise<number> {
  const { text } = await tracker.client().get('/metrics')
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  if (found === undefined) throw new Error(`no metric ${line}`)
  return Number(found.slice(line.length + 1))
}
