import { describe, expect, test } from '@jest/globals'
import { createCoalescer } from './search-queue.ts'

/** Work that ends on request. */
function controlledRuns() {
  const runs: { end: (result: string) => void; fail: (error: Error) => void }[] = []
  const run = (): Promise<string> => new Promise((end, fail) => void runs.push({ end, fail }))
  return { runs, run }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('shared runs', () => {
  test('calls during a run share the next one', async () => {
    const { runs, run } = controlledRuns()
    const shared = createCoalescer<string>()
    const first = shared('key', run)
    const second = shared('key', run)
    const third = shared('key', run)
    expect(runs).toHaveLength(1)
    runs[0]?.end('old')
    await settled()
    expect(runs).toHaveLength(2)
    runs[1]?.end('new')
    expect(await Promise.all([first, second, third])).toEqual(['old', 'new', 'new'])
  })

  test('a call during the second run waits for a third', async () => {
    const { runs, run } = controlledRuns()
    const shared = createCoalescer<string>()
    const first = shared('key', run)
    const second = shared('key', run)
    runs[0]?.end('first')
    await settled()
    const third = shared('key', run)
    runs[1]?.end('second')
    await settled()
    expect(runs).toHaveLength(3)
    runs[2]?.end('third')
    expect(await Promise.all([first, second, third])).toEqual(['first', 'second', 'third'])
  })

  test('keys do not wait for each other', () => {
    const { runs, run } = controlledRuns()
    const shared = createCoalescer<string>()
    void shared('one', run)
    void shared('two', run)
    expect(runs).toHaveLength(2)
  })

  test('a finished run is not shared', async () => {
    const { runs, run } = controlledRuns()
    const shared = createCoalescer<string>()
    const first = shared('key', run)
    runs[0]?.end('first')
    expect(await first).toBe('first')
    await settled()
    void shared('key', run)
    expect(runs).toHaveLength(2)
  })

  test('a failure does not affect the next run', async () => {
    const { runs, run } = controlledRuns()
    const shared = createCoalescer<string>()
    const first = shared('key', run)
    const second = shared('key', run)
    runs[0]?.fail(new Error('away'))
    await expect(first).rejects.toThrow('away')
    await settled()
    runs[1]?.end('again')
    expect(await second).toBe('again')
  })
})
