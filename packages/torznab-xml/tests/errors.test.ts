import { expect, test } from '@jest/globals'
import { contentType, TORZNAB_ERROR_KINDS, torznabError, writeError } from '../src/index.ts'

test.each([
  ['incorrectCredentials', 100, 401, 'Incorrect user credentials'],
  ['accountSuspended', 101, 403, 'Account suspended'],
  ['notAuthorized', 102, 403, 'Insufficient privileges/not authorized'],
  ['missingParameter', 200, 400, 'Missing parameter'],
  ['incorrectParameter', 201, 400, 'Incorrect parameter'],
  ['noSuchFunction', 300, 400, 'No such function'],
  ['noSuchItem', 300, 404, 'No such item'],
  ['requestLimitReached', 500, 429, 'Request limit reached'],
  ['unknownError', 900, 500, 'Unknown error'],
  ['apiDisabled', 910, 403, 'API Disabled'],
] as const)('%s is %i, with HTTP %i', (kind, code, status, description) => {
  expect(torznabError(kind)).toEqual({ kind, code, status, description })
})

test('every kind can be written', () => {
  for (const kind of TORZNAB_ERROR_KINDS) {
    const error = torznabError(kind)
    expect(writeError(error)).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<error code="${error.code}" description="${error.description}"/>`,
    )
  }
})

test('an incorrect parameter is named after the text that tools compare', () => {
  expect(torznabError('missingParameter', 'apikey').description).toBe('Missing parameter: apikey')
})

test('as JSON an error has the attributes of the element', () => {
  expect(JSON.parse(writeError(torznabError('requestLimitReached'), 'json'))).toEqual({
    error: { '@attributes': { code: '500', description: 'Request limit reached' } },
  })
})

test('documents are never sent as HTML', () => {
  expect(contentType('xml', 'feed')).toBe('application/rss+xml; charset=utf-8')
  expect(contentType('xml', 'error')).toBe('application/xml; charset=utf-8')
  expect(contentType('json', 'caps')).toBe('application/json; charset=utf-8')
})
