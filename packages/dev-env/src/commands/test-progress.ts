import { readFileSync } from 'node:fs'

/** What the reporters of test runners write: the number of files, or the name of one that began or ended. */
type ProgressEvent = {
  total?: number
  began?: string
  ended?: string
}

/** How far a run is that writes such events to a file: "31 of 124 files, now tests/swarm.test.ts"; '' before the first. */
export function progressIn(file: string): string {
  const events = readLines(file).map((line) => JSON.parse(line) as ProgressEvent)
  const ended = new Set(events.flatMap((event) => event.ended ?? []))
  const running = events.flatMap(({ began }) => (began === undefined || ended.has(began) ? [] : [began]))
  const total = events.reduce((sum, event) => sum + (event.total ?? 0), 0)
  if (total === 0) return ''
  return [`${ended.size} of ${total} files`, ...(running.length > 0 ? [`now ${running.join(', ')}`] : [])].join(', ')
}

/** The complete lines of a file that another process is writing. */
function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
