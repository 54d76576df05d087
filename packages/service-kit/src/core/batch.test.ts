import { expect, test } from '@jest/globals'
import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/core/batch'
import { UnavailableError } from '@vault-and-tracker/service-kit/core/errors'

const FOREVER = 3_600_000
const ONE_AT_A_TIME: BatcherOptions = {
  concurrency: 1,
  maxBatchSize: 10,
  lingerMs: 0,
  isReady: (waiting) => waiting >= 10,
}

/** Batches that end when the test ends them. */
function controlled(options: Partial<BatcherOptions> = {}) {
  const batches: { items: readonly number[]; end: (error?: Error) => void }[] = []
  const call = createBatcher<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(items.map(String)) : reject(error))
        batches.push({ items, end })
      }),
    { ...ONE_AT_A_TIME, ...options },
  )
  return { batches, call, sent: () => batches.map(({ items }) => items) }
}

function half(number: number): Promise<number> {
  return number % 2 === 0 ? Promise.resolve(number / 2) : Promise.reject(new Error('odd'))
}

async function eventually(condition: () => boolean): Promise<boolean> {
  while (!condition()) await turn()
  return true
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('items of one turn of the event loop are sent at its end, in one batch', async () => {
  const { batches, call, sent } = controlled({ lingerMs: FOREVER })
  const results = [call(1), call(2)]
  expect(sent()).toEqual([])
  await turn()
  expect(sent()).toEqual([[1, 2]])
  batches[0]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2'])
})

test('at full concurrency items are sent when a batch ends, no more than the maximum batch size at a time', async () => {
  const { batches, call, sent } = controlled({ maxBatchSize: 3 })
  const first = call(1)
  await turn()
  const others = [2, 3, 4, 5].map(call)
  await turn()
  expect(sent()).toEqual([[1]])
  batches[0]?.end()
  await expect(eventually(() => sent().length === 2)).resolves.toBe(true)
  batches[1]?.end()
  await expect(eventually(() => sent().length === 3)).resolves.toBe(true)
  batches[2]?.end()
  expect(await Promise.all([first, ...others])).toEqual(['1', '2', '3', '4', '5'])
  expect(sent()).toEqual([[1], [2, 3, 4], [5]])
})

test('items that become ready by one event share a batch, however many promises each of them awaits', async () => {
  let pending = 3
  const { batches, call, sent } = controlled({ concurrency: 3, lingerMs: FOREVER, isReady: () => pending === 0 })
  let release: () => void = () => undefined
  const event = new Promise<void>((resolve) => {
    release = resolve
  })
  const arrive = async (item: number): Promise<string> => {
    await event
    pending--
    for (let steps = 0; steps < item * 3; steps++) await Promise.resolve()
    return call(item)
  }
  const results = [arrive(1), arrive(2), arrive(3)]
  release()
  await turn()
  expect(sent()).toEqual([[1, 2, 3]])
  batches[0]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2', '3'])
})

test('too few items wait for the linger time after the start of the previous batch, even if it has ended', async () => {
  const { batches, call, sent } = controlled({ concurrency: 2, lingerMs: FOREVER, isReady: (waiting) => waiting >= 3 })
  const results = [call(1)]
  await turn()
  results.push(call(2), call(3))
  batches[0]?.end()
  await turn()
  await turn()
  expect(sent()).toEqual([[1]])
  results.push(call(4))
  await turn()
  expect(sent()).toEqual([[1], [2, 3, 4]])
  batches[1]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2', '3', '4'])
})

test('a full batch does not wait for the linger time', async () => {
  const { batches, call, sent } = controlled({
    ...{ concurrency: 2, maxBatchSize: 2, lingerMs: FOREVER },
    isReady: () => false,
  })
  const results = [call(1)]
  await turn()
  results.push(call(2), call(3))
  await turn()
  expect(sent()).toEqual([[1], [2, 3]])
  batches[0]?.end()
  batches[1]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2', '3'])
})

test('after the linger time, waiting items are sent alongside the batch in progress', async () => {
  const { batches, call, sent } = controlled({ concurrency: 2, lingerMs: 1 })
  const results = [call(1)]
  await turn()
  results.push(call(2))
  await expect(eventually(() => sent().length === 2)).resolves.toBe(true)
  batches[0]?.end()
  batches[1]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2'])
})

test('the number of batches in progress never exceeds the concurrency', async () => {
  const { batches, call, sent } = controlled({ concurrency: 2, maxBatchSize: 1, isReady: () => true })
  const results = [1, 2, 3, 4].map(call)
  await turn()
  expect(sent()).toEqual([[1], [2]])
  batches[1]?.end()
  await turn()
  expect(sent()).toEqual([[1], [2], [3]])
  batches[0]?.end()
  batches[2]?.end()
  await turn()
  batches[3]?.end()
  expect(await Promise.all(results)).toEqual(['1', '2', '3', '4'])
})

test('a result that is a promise settles only its item', async () => {
  const call = createBatcher<number, number>((items) => Promise.resolve(items.map(half)), ONE_AT_A_TIME)
  const results = await Promise.allSettled([2, 3, 4].map(call))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('while the server is unavailable, a batch fails for its items and the waiting ones, and the next item is sent', async () => {
  const { batches, call, sent } = controlled({ maxBatchSize: 2 })
  const results = Promise.allSettled([1, 2, 3].map(call))
  await turn()
  batches[0]?.end(new UnavailableError('redis'))
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  const next = call(4)
  await turn()
  expect(sent()).toEqual([[1, 2], [4]])
  batches[1]?.end()
  expect(await next).toBe('4')
})

test('a batch that fails for another reason fails only for its items', async () => {
  const { batches, call, sent } = controlled({ maxBatchSize: 2 })
  const results = Promise.allSettled([1, 2, 3].map(call))
  await turn()
  batches[0]?.end(new Error('refused'))
  await expect(eventually(() => sent().length === 2)).resolves.toBe(true)
  expect(sent()).toEqual([[1, 2], [3]])
  batches[1]?.end()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test('an item sent after a failure that emptied the queue is not sent twice', async () => {
  const { batches, call, sent } = controlled({ concurrency: 2, lingerMs: 5 })
  const failed = Promise.allSettled([call(1)])
  await turn()
  const behind = Promise.allSettled([call(2)])
  batches[0]?.end(new UnavailableError('redis'))
  await failed
  await behind
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(sent()).toEqual([[1]])
  const next = call(3)
  await turn()
  batches[1]?.end()
  expect(await next).toBe('3')
  expect(sent()).toEqual([[1], [3]])
})

test('a batch that throws, or has too few results, rejects', async () => {
  const throwing = createBatcher<number, number>(() => {
    throw new Error('at once')
  }, ONE_AT_A_TIME)
  await expect(throwing(1)).rejects.toThrow('at once')
  const short = createBatcher<number, number>(() => Promise.resolve([]), ONE_AT_A_TIME)
  await expect(short(1)).rejects.toThrow('no result for an item')
})
