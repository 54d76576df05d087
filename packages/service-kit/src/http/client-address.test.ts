import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { addressKey, clientAddress, trustedProxies } from './client-address.ts'

function request(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  const message = new IncomingMessage(socket)
  Object.assign(message.headers, headers)
  return message
}

const proxies = trustedProxies(['10.0.0.0/8', '2001:db8::/32'])

test.each([
  ['the socket, when it is no proxy', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['the right-most hop that is no proxy, when it is', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['not what the client wrote', '10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['the hop before a chain of proxies', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['the last proxy, when nothing else is readable', '10.0.0.1', 'unknown, 10.9.9.9', '10.9.9.9'],
  ['the socket, when the header is missing', '10.0.0.1', '', '10.0.0.1'],
  ['an IPv4 address in its own form', '::ffff:203.0.113.9', '', '203.0.113.9'],
  ['an IPv4 address in capitals', '10.0.0.1', '::FFFF:203.0.113.9', '203.0.113.9'],
  ['an IPv4 address in hexadecimal', '10.0.0.1', '::ffff:cb00:7109', '203.0.113.9'],
  ['an IPv4 address written out', '10.0.0.1', '0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
  ['an IPv6 address with ffff elsewhere', '10.0.0.1', '2001:dead:ffff::7', '2001:dead:ffff::7'],
  ['a link-local address without its zone', 'fe80::1%eth0', '', 'fe80::1'],
  ['a forwarded address without its zone', '10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
  ['an IPv6 client behind an IPv6 proxy', '2001:db8::1', '2001:dead::7', '2001:dead::7'],
])('the address is %s', (_name, remote, forwarded, expected) => {
  expect(clientAddress(request(remote, forwarded === '' ? {} : { 'x-forwarded-for': forwarded }), proxies)).toBe(
    expected,
  )
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
])('%s is counted as %s', (address, key) => {
  expect(addressKey(address)).toBe(key)
})

test.each(['nginx', '10.0.0.0/33', '10.0.0.0/x', '::/129'])('the range %s is refused by name', (range) => {
  expect(() => trustedProxies([range])).toThrow(range)
})

test.each([
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '::ffff:203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['::/0', 'ffff::1', true],
])('of the range %s, %s is trusted: %s', (range, address, trusted) => {
  expect(trustedProxies([range]).isTrusted(address)).toBe(trusted)
})

test('a hop in a notation that proxy-addr does not know is not trusted', () => {
  const hop = '64:ff9b::192.0.2.1'
  expect(clientAddress(request('10.0.0.1', { 'x-forwarded-for': hop }), proxies)).toBe(hop)
})

test('an empty element of the list of hops is skipped', () => {
  const forwarded = { 'x-forwarded-for': '1.1.1.1, 198.51.100.1, , 10.9.9.9' }
  expect(clientAddress(request('10.0.0.1', forwarded), proxies)).toBe('198.51.100.1')
})
