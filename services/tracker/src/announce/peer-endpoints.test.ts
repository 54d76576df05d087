import { expect, test } from '@jest/globals'
import { parseAnnounceQuery } from '@vault-and-tracker/bencode-tracker'
import { endpointsOf } from './peer-endpoints.ts'

const SETTINGS = { allowPrivatePeers: true, allowIpParam: true }
const ADDRESS = Uint8Array.of(1, 2, 3, 4)

function requestWith(parameters: string) {
  const id = 'a'.repeat(20)
  const parsed = parseAnnounceQuery(
    `info_hash=${id}&peer_id=${id}&port=6881&uploaded=0&downloaded=0&left=0&${parameters}`,
  )
  if (!parsed.ok) throw new Error(parsed.failure)
  return parsed.request
}

test.each(['ip=0.0.0.0', 'ipv4=0.0.0.0', 'ipv6=::', 'ipv4=5.6.7.8&ipv6=::'])('the claim %s cannot be used', (claim) => {
  expect(endpointsOf(requestWith(claim), ADDRESS, SETTINGS)).toBe('address_not_usable')
})

test('a claimed address does not replace an unknown one', () => {
  expect(endpointsOf(requestWith('ip=5.6.7.8'), new Uint8Array(4), SETTINGS)).toBe('address_not_usable')
})

test('an ignored claim can have any value', () => {
  const found = endpointsOf(requestWith('ip=0.0.0.0'), ADDRESS, { ...SETTINGS, allowIpParam: false })
  expect(found).toMatchObject({ source: ADDRESS })
})
