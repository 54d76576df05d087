import { expect, test } from '@jest/globals'
import { type BatcherOptions, createBatcher } from '@vault-and-tracker/service-kit/batch'

const FOREVER = 3_600_000
const ONE_AT_A_TIME: BatcherOptions = {
  concurrency: 1,
  maxBatchSize: 10,
  lingerMs: 0,
  isReady: (waiting) => waiting >= 10,
}

/** Runs that end when the test says so. */
function controlled(options: Partial<BatcherOptions> = {}) {
  const runs: { questions: readonly number[]; end: (error?: Error) => void }[] = []
  const ask = createBatcher<number, string>(
    (questions) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(questions.map(String)) : reject(error))
        runs.push({ questions, end })
      }),
    { ...ONE_AT_A_TIME, ...options },
  )
  return { runs, ask, asked: () => runs.map(({ questions }) => questions) }
}

function half(number: number): Promise<number> {
  return number % 2 === 0 ? Promise.resolve(number / 2) : Promise.reject(new Error('odd'))
}

async function eventually(condition: () => boolean): Promise<boolean> {
  while (!condition()) await turn()
  return true
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('questions of one turn of the event loop are asked at its end, together', async () => {
  const { runs, ask, asked } = controlled({ lingerMs: FOREVER })
  const answers = [ask(1), ask(2)]
  expect(asked()).toEqual([])
  await turn()
  expect(asked()).toEqual([[1, 2]])
  runs[0]?.end()
  expect(await Promise.all(answers)).toEqual(['1', '2'])
})

test('what comes while every place is taken is asked when a run ends, no more than the most at a time', async () => {
  const { runs, ask, asked } = controlled({ maxBatchSize: 3 })
  const first = ask(1)
  await turn()
  const others = [2, 3, 4, 5].map(ask)
  await turn()
  expect(asked()).toEqual([[1]])
  runs[0]?.end()
  await expect(eventually(() => asked().length === 2)).resolves.toBe(true)
  runs[1]?.end()
  await expect(eventually(() => asked().length === 3)).resolves.toBe(true)
  runs[2]?.end()
  expect(await Promise.all([first, ...others])).toEqual(['1', '2', '3', '4', '5'])
  expect(asked()).toEqual([[1], [2, 3, 4], [5]])
})

test('too few questions wait until the rest after the run before is over, also when that has ended', async () => {
  const { runs, ask, asked } = controlled({ concurrency: 2, lingerMs: FOREVER, isReady: (waiting) => waiting >= 3 })
  const answers = [ask(1)]
  await turn()
  answers.push(ask(2), ask(3))
  runs[0]?.end()
  await turn()
  await turn()
  expect(asked()).toEqual([[1]])
  answers.push(ask(4))
  expect(asked()).toEqual([[1], [2, 3, 4]])
  runs[1]?.end()
  expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4'])
})

test('once the rest is over, what waits is asked beside the run under way', async () => {
  const { runs, ask, asked } = controlled({ concurrency: 2, lingerMs: 1 })
  const answers = [ask(1)]
  await turn()
  answers.push(ask(2))
  await expect(eventually(() => asked().length === 2)).resolves.toBe(true)
  runs[0]?.end()
  runs[1]?.end()
  expect(await Promise.all(answers)).toEqual(['1', '2'])
})

test('there are never more runs under way than places', async () => {
  const { runs, ask, asked } = controlled({ concurrency: 2, maxBatchSize: 1, isReady: () => true })
  const answers = [1, 2, 3, 4].map(ask)
  await turn()
  expect(asked()).toEqual([[1], [2]])
  runs[1]?.end()
  await turn()
  expect(asked()).toEqual([[1], [2], [3]])
  runs[0]?.end()
  runs[2]?.end()
  await turn()
  runs[3]?.end()
  expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4'])
})

test('an answer that is a promise settles for its question alone', async () => {
  const ask = createBatcher<number, number>((questions) => Promise.resolve(questions.map(half)), ONE_AT_A_TIME)
  const answers = await Promise.allSettled([2, 3, 4].map(ask))
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a run that fails fails for those in it and those behind it; the next question is asked again', async () => {
  const { runs, ask, asked } = controlled({ maxBatchSize: 2 })
  const answers = Promise.allSettled([1, 2, 3].map(ask))
  await turn()
  runs[0]?.end(new Error('away'))
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  const next = ask(4)
  await turn()
  expect(asked()).toEqual([[1, 2], [4]])
  runs[1]?.end()
  expect(await next).toBe('4')
})

test('a question asked after a failure that emptied the queue is not run twice', async () => {
  const { runs, ask, asked } = controlled({ concurrency: 2, lingerMs: 5 })
  const failed = Promise.allSettled([ask(1)])
  await turn()
  const behind = Promise.allSettled([ask(2)])
  runs[0]?.end(new Error('away'))
  await failed
  await behind
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(asked()).toEqual([[1]])
  const next = ask(3)
  await turn()
  runs[1]?.end()
  expect(await next).toBe('3')
  expect(asked()).toEqual([[1], [3]])
})

test('a run that throws instead of answering, or answers too little, rejects', async () => {
  const throwing = createBatcher<number, number>(() => {
    throw new Error('at once')
  }, ONE_AT_A_TIME)
  await expect(throwing(1)).rejects.toThrow('at once')
  const short = createBatcher<number, number>(() => Promise.resolve([]), ONE_AT_A_TIME)
  await expect(short(1)).rejects.toThrow('no result for an item')
})
