import { expect, test } from '@jest/globals'
import { createUploadMemories } from './upload-memory.ts'

const text = (bytes: Buffer): string => bytes.toString('latin1')

test('chunks are put together in memory that threads share', () => {
  const memory = createUploadMemories(8).take()
  expect(memory.bytes().length).toBe(0)
  memory.append(Buffer.from('abc'))
  memory.append(Buffer.from('defgh'))
  expect(text(memory.bytes())).toBe('abcdefgh')
  expect(memory.bytes().buffer).toBeInstanceOf(SharedArrayBuffer)
})

test('uploads at the same time have memory of their own, a later one has that of an earlier one', () => {
  const memories = createUploadMemories(8)
  const [first, second] = [memories.take(), memories.take()]
  first.append(Buffer.from('first'))
  second.append(Buffer.from('second'))
  expect([text(first.bytes()), text(second.bytes())]).toEqual(['first', 'second'])
  const used = first.bytes().buffer
  first.release()
  const third = memories.take()
  third.append(Buffer.from('3'))
  expect([text(third.bytes()), text(second.bytes())]).toEqual(['3', 'second'])
  expect(third.bytes().buffer).toBe(used)
})

test('three memories are kept for later uploads, however many there were at once', () => {
  const memories = createUploadMemories(8)
  const regionsOf = (count: number) => {
    const taken = Array.from({ length: count }, () => memories.take())
    const regions = taken.map((memory) => {
      memory.append(Buffer.from('x'))
      return memory.bytes().buffer
    })
    for (const memory of taken) memory.release()
    return regions
  }
  const first = regionsOf(16)
  expect(regionsOf(16).filter((region) => first.includes(region))).toHaveLength(3)
})

test('after its release an upload writes nothing, and releases nothing again', () => {
  const memories = createUploadMemories(8)
  const first = memories.take()
  first.append(Buffer.from('first'))
  first.release()
  first.release()
  const [second, third] = [memories.take(), memories.take()]
  second.append(Buffer.from('second'))
  third.append(Buffer.from('third'))
  first.append(Buffer.from('late'))
  expect([first, second, third].map((memory) => text(memory.bytes()))).toEqual(['', 'second', 'third'])
})

test('an upload larger than its memory is an error, not a part of it', () => {
  const memory = createUploadMemories(4).take()
  memory.append(Buffer.from('four'))
  expect(() => memory.append(Buffer.from('5'))).toThrow('out of bounds')
})
