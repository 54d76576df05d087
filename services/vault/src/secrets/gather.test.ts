import { expect, test } from '@jest/globals'
import { gather } from './gather.ts'

/** Runs that end when the test says so. */
function controlled(options: { lanes: number; most: number }) {
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

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a single question is asked at once, alone', async () => {
  const { runs, ask, asked } = controlled({ lanes: 2, most: 10 })
  const answer = ask(1)
  await turn()
  expect(asked()).toEqual([[1]])
  runs[0]?.end()
  expect(await answer).toBe('1')
})

test('what comes while all lanes are taken is asked in one run when the first is free, and no more than the most', async () => {
  const { runs, ask, asked } = controlled({ lanes: 1, most: 3 })
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

test('a run that fails fails for those in it and those behind it; the next question is asked again', async () => {
  const { runs, ask, asked } = controlled({ lanes: 1, most: 2 })
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
    { lanes: 1, most: 2 },
  )
  await expect(throwing(1)).rejects.toThrow('at once')
  const short = gather<number, number>(() => Promise.resolve([]), { lanes: 1, most: 2 })
  await expect(short(1)).rejects.toThrow('not answered')
})
