import { expect, test } from '@jest/globals'
import { gather } from './gather.ts'

/** Runs that end when the test says so. */
function controlled(options: { lanes: number; most: number; patienceMs: number }) {
  const runs: { questions: readonly number[]; end: (error?: Error) => void }[] = []
  const ask = gather<number, string>(
    (questions) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(questions.map(String)) : reject(error))
        runs.push({ questions, end })
      }),
    options,
  )
  return { runs, ask, asked: () => runs.map(({ questions }) => questions) }
}

const FOREVER = 3_600_000

function half(number: number): Promise<number> {
  return number % 2 === 0 ? Promise.resolve(number / 2) : Promise.reject(new Error('odd'))
}

async function eventually(condition: () => boolean): Promise<boolean> {
  while (!condition()) await turn()
  return true
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a single question is asked at once, alone', async () => {
  const { runs, ask, asked } = controlled({ lanes: 2, most: 10, patienceMs: FOREVER })
  const answer = ask(1)
  await turn()
  expect(asked()).toEqual([[1]])
  runs[0]?.end()
  expect(await answer).toBe('1')
})

test('what comes while a run is under way is asked in one run when it ends, and no more than the most', async () => {
  const { runs, ask, asked } = controlled({ lanes: 4, most: 3, patienceMs: FOREVER })
  const first = ask(1)
  await turn()
  const others = [2, 3, 4, 5].map(ask)
  await turn()
  expect(asked()).toEqual([[1]])
  runs[0]?.end()
  await turn()
  expect(asked()).toEqual([[1], [2, 3, 4]])
  runs[1]?.end()
  await turn()
  expect(asked()).toEqual([[1], [2, 3, 4], [5]])
  runs[2]?.end()
  expect(await Promise.all([first, ...others])).toEqual(['1', '2', '3', '4', '5'])
})

test('what has waited for long enough is asked beside the run under way, in as many lanes as there are', async () => {
  const { runs, ask, asked } = controlled({ lanes: 2, most: 2, patienceMs: 1 })
  const answers = [1, 2, 3, 4].map(ask)
  await expect(eventually(() => asked().length === 2)).resolves.toBe(true)
  expect(asked()).toEqual([
    [1, 2],
    [3, 4],
  ])
  answers.push(ask(5))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(asked()).toHaveLength(2)
  for (const i of [0, 1, 2]) {
    runs[i]?.end()
    await turn()
  }
  expect(await Promise.all(answers)).toEqual(['1', '2', '3', '4', '5'])
})

test('an answer that is a promise settles for its question alone', async () => {
  const ask = gather<number, number>((questions) => Promise.resolve(questions.map(half)), {
    lanes: 1,
    most: 10,
    patienceMs: FOREVER,
  })
  const answers = await Promise.allSettled([2, 3, 4].map(ask))
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a run that fails fails for those in it and those behind it; the next question is asked again', async () => {
  const { runs, ask, asked } = controlled({ lanes: 1, most: 2, patienceMs: FOREVER })
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

test('a run that throws instead of answering, or answers too little, rejects', async () => {
  const throwing = gather<number, number>(
    () => {
      throw new Error('at once')
    },
    { lanes: 1, most: 2, patienceMs: FOREVER },
  )
  await expect(throwing(1)).rejects.toThrow('at once')
  const short = gather<number, number>(() => Promise.resolve([]), { lanes: 1, most: 2, patienceMs: FOREVER })
  await expect(short(1)).rejects.toThrow('not answered')
})
