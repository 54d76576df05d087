import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { cutDescriptions } from './session-descriptions.ts'

/** Puts back what was cut out, as the tracker does when it passes a description on. */
function restored(message: string): string {
  const { json, descriptions } = cutDescriptions(message)
  return json.replace(/"sdp":"(\d+)"/g, (_, index: string) => `"sdp":"${descriptions[Number(index)] ?? ''}"`)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('descriptions are cut out in their order, as they are written', () => {
  const message = String.raw`{"offers":[{"offer":{"sdp":"v=0\r\n\"é"}},{"offer":{"sdp" : "😀"}}],"x":1}`
  expect(cutDescriptions(message)).toEqual({
    json: '{"offers":[{"offer":{"sdp":"0"}},{"offer":{"sdp":"1"}}],"x":1}',
    descriptions: [String.raw`v=0\r\n\"é`, '😀'],
  })
})

test('a message without a description stays as it is', () => {
  for (const message of ['', '{"sdp":5}', '{"sdp":"a', String.raw`{"sdp":"\x"}`, '{"sdp":"a\nb"}'])
    expect(cutDescriptions(message)).toEqual({ json: message, descriptions: [] })
})

test('whatever JSON is sent, nothing is lost', () => {
  const key = fc.oneof(fc.constant('sdp'), fc.constant('x"sdp'), fc.constant('sdp\\'), fc.string())
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.string({ unit: 'binary' }), fc.integer(), tie('list'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  }))
  fc.assert(
    fc.property(value, (sent) => {
      const message = JSON.stringify(sent)
      expect(isJson(cutDescriptions(message).json)).toBe(true)
      expect(JSON.parse(restored(message))).toEqual(JSON.parse(message))
    }),
    { numRuns: 2_000 },
  )
})

test('whatever text is sent, what is cut out does not decide whether it is JSON', () => {
  const piece = fc.constantFrom('"sdp"', ':', '"', '\\', '{', '}', ',', '"x"', ' ', '\n', 'sdp', 'u0041', '[', ']', '1')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const message = pieces.join('')
      expect(isJson(cutDescriptions(message).json)).toBe(isJson(message))
    }),
    { numRuns: 50_000 },
  )
})
