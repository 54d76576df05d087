import { describe, expect, test } from '@jest/globals'
import { agentNamed, input, invalid, lines, refusal, swap, twice } from './refusal-support.ts'
import {
  AGENT,
  COVERED_WITH_CONTENT,
  check,
  craft,
  type Draft,
  digestOf,
  NONCE,
  NOW,
  outcome,
  PARAMS,
} from './support.ts'

test('the request all refusals start from is accepted', () => {
  expect(outcome(() => check(craft()))).toBe('accepted')
})

describe('what is missing', () => {
  refusal('missing_signature', 'signature is missing')('a request without Signature is refused', lines('Signature'))
  refusal('missing_signature', 'signature-input is missing')(
    'a request without Signature-Input is refused',
    lines('Signature-Input'),
  )
  refusal('missing_signature', 'signature-agent is missing')(
    'a request without Signature-Agent is refused',
    lines('Signature-Agent'),
  )
  refusal('missing_signature', 'signature is missing')('an empty Signature is a missing one', lines('Signature', ''))
  refusal('missing_signature', 'signature-agent is missing')('a missing header outranks a malformed one', {
    input: 'junk',
    ...lines('Signature-Agent'),
  })
  invalid('host must occur exactly once')('a request without Host is refused', lines('Host'))
  refusal('missing_signature', 'signature is missing')('a request without any header is refused', {
    headers: () => [],
  })
})

describe('header lines', () => {
  invalid('signature must occur exactly once')('a second Signature line is refused', twice('Signature'))
  invalid('signature-input must occur exactly once')(
    'a second Signature-Input line is refused',
    twice('Signature-Input'),
  )
  invalid('signature-agent must occur exactly once')(
    'a second Signature-Agent line is refused',
    twice('Signature-Agent'),
  )
  invalid('host must occur exactly once')('a second Host line is refused', twice('Host'))
  invalid('host must occur exactly once')('a second Host line in another case is refused', twice('hOST'))
  invalid('content-digest must occur exactly once')('a second Content-Digest line is refused when covered', {
    ...input(PARAMS, COVERED_WITH_CONTENT),
    digest: digestOf('sha-256', ''),
    ...twice('Content-Digest'),
  })
  invalid('content-digest must occur exactly once')(
    'a covered Content-Digest that is absent is refused',
    input(PARAMS, COVERED_WITH_CONTENT),
  )
  invalid('signature-input is not printable ASCII')('Latin-1 text in a header is refused', agentNamed(`dém.${AGENT}`))
  invalid('signature-input is not printable ASCII')('a tab in a header is refused', swap(';nonce', ';\tnonce'))
  invalid('host is not printable ASCII')('a line break in a header is refused', { host: 'vault.test\n' })
  invalid('signature-input is over 1 KiB')('a Signature-Input over 1 KiB is refused', swap(NONCE, 'a'.repeat(1024)))
  invalid('signature-agent is over 1 KiB')('a Signature-Agent over 1 KiB is refused', {
    agent: `sig1=${'a'.repeat(1024)}`,
  })
  invalid('signature is over 1 KiB')('a Signature over 1 KiB is refused', { wrap: (text) => text.repeat(12) })
  invalid('host is over 1 KiB')('a Host over 1 KiB is refused', { host: 'a'.repeat(1025) })
})

describe('the request line and Host', () => {
  const target = invalid('the target is not a path with a query')
  target('an absolute-form target is refused', { target: 'http://vault.test:4200/v1/secrets' })
  target('an asterisk-form target is refused', { target: '*' })
  target('an authority-form target is refused', { target: 'vault.test:4200' })
  target('an empty target is refused', { target: '' })
  target('a target starting with two slashes is refused', { target: '//evil.test/v1/secrets' })
  target('a target starting with slash and backslash is refused', { target: '/\\evil.test/v1/secrets' })
  target('a target with a fragment is refused', { target: '/v1/secrets#x' })
  target('a target with a space is refused', { target: '/v1/secrets ?env=x' })
  target('a target with a line break is refused', { target: '/v1/secrets\n"@signature-params": ()' })
  target('a target outside ASCII is refused', { target: '/v1/sécrets' })

  const method = invalid('the method is not a token')
  method('an empty method is refused', { method: '' })
  method('a method with a space is refused', { method: 'GET ' })
  method('a method with a line break is refused', { method: 'GET\n"@authority": evil.test' })

  const host = invalid('host is not a name or address with an optional port')
  host('a Host with a path is refused', { host: 'vault.test/x' })
  host('a Host with user information is refused', { host: 'user@vault.test' })
  host('a Host with a query is refused', { host: 'vault.test?x' })
  host('a list of hosts is refused', { host: 'vault.test, evil.test' })
  host('a Host with a space is refused', { host: 'vault.test ' })
  host('a Host of a bare port is refused', { host: ':4200' })
  host('a port with a leading zero is refused', { host: 'vault.test:080' })
  host('a port of six digits is refused', { host: 'vault.test:123456' })
  host('a colon without a port is refused', { host: 'vault.test:' })
  host('an IPv6 address without brackets is refused', { host: '::1' })
  host('an empty Host is refused', { host: '' })

  const wrong = invalid('the signature does not verify')
  wrong('a signature for another host is refused', { authority: 'other.test' })
  wrong('a signature for a third spelling of the host is refused', { host: 'VAULT.test', authority: 'vault.TEST' })
  wrong('a signature with the other scheme’s default port dropped is refused', {
    host: 'vault.test:443',
    authority: 'vault.test',
  })
})

describe('time', () => {
  const expired = refusal('expired', 'created is more than 5 minutes away from now')
  expired('a request signed 300.001 s ago is refused', {}, { now: NOW + 300_001 })
  expired('a request signed 300.001 s ahead is refused', {}, { now: NOW - 300_001 })
  expired('a clock that is not a number refuses everything', {}, { now: Number.NaN })
  invalid('the signature does not verify')(
    'a bad signature is refused as such even when it is old',
    { authority: 'other.test' },
    { now: NOW + 900_000 },
  )
})

describe('the body', () => {
  const body = '{"key":"A","value":"1"}'
  const covering = (digest: string): Partial<Draft> => ({ ...input(PARAMS, COVERED_WITH_CONTENT), digest })
  const right = digestOf('sha-256', body)

  const differs = invalid('content-digest does not match the body')
  differs('another body is refused', covering(right), { body: `${body} ` })
  differs('a missing body is refused', covering(right))
  differs('a second algorithm whose digest differs is refused', covering(`${right}, ${digestOf('sha-512', '')}`), {
    body,
  })
  differs('a digest without padding is refused', covering(right.replace(/=:$/, ':')), { body })

  const form = invalid('content-digest is not one sha-256 or sha-512 value each')
  form('a digest in an unknown algorithm is refused', covering('md5=:1B2M2Y8AsgTpgAmY7PhCfg==:'))
  form(
    'an unknown algorithm next to a known one is refused',
    covering(`${right}, sha=:2jmj7l5rSw0yVb/vlWAYkK/YBwk=:`),
    {
      body,
    },
  )
  form('an algorithm given twice is refused', covering(`${right}, ${right}`), { body })
  form('an algorithm in upper case is refused', covering(right.replace('sha', 'SHA')), { body })
  form('a parameter of the digest is refused', covering(`${right};q=1`), { body })
  form('a digest in quotes is refused', covering(right.replaceAll(':', '"')), { body })
  form('a comma at the end is refused', covering(`${right},`), { body })

  invalid('the body is not covered')(
    'an uncovered body is refused where coverage is required',
    { digest: right },
    { body, contentRequired: true },
  )
  refusal('expired', 'created is more than 5 minutes away from now')(
    'an old request is refused as such even when its body differs',
    covering(right),
    { now: NOW + 300_001 },
  )
})
