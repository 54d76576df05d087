import { setImmediate } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { exportFile } from './export.ts'

test('many exports read one page at a time', async () => {
  let reading = 0
  const atOnce: number[] = []
  const read = async () => {
    atOnce.push(++reading)
    await setImmediate()
    reading -= 1
    return [{ id: 1 }]
  }
  await Promise.all(
    Array.from({ length: 5 }, () => exportFile({ name: 'numbers', format: 'csv', columns: ['id'] }, read)),
  )
  expect(atOnce).toEqual([1, 1, 1, 1, 1])
})
