import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { announceMessage, quote } from './socket-replies.ts'

const reply = {
  infoHashJson: quote('\u0000"\\é'),
  complete: 1,
  incomplete: 2,
  downloaded: 3,
  interval: 125,
  minInterval: 60,
  warning: undefined,
}

test('a string is quoted as JSON does, in bytes of UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(Buffer.from(quote(text), 'latin1').toString()).toBe(JSON.stringify(text))
    }),
  )
})

test('the reply to an announce is JSON with both names of the minimum interval', () => {
  const read = (message: string): unknown => JSON.parse(Buffer.from(message, 'latin1').toString())
  const members = {
    action: 'announce',
    info_hash: '\u0000"\\é',
    complete: 1,
    incomplete: 2,
    downloaded: 3,
    interval: 125,
    'min interval': 60,
    min_interval: 60,
  }
  expect(read(announceMessage(reply))).toEqual(members)
  expect(read(announceMessage({ ...reply, warning: 'Wait "here"' }))).toEqual({
    ...members,
    'warning message': 'Wait "here"',
  })
})
