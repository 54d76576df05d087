import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { trustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { clientScheme, forwardedHost } from './input.ts'

const proxies = trustedProxies(['10.0.0.0/8'])

function request(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  const message = new IncomingMessage(socket)
  Object.assign(message.headers, headers)
  return message
}

test('an untrusted client has the scheme of its socket, regardless of its headers', () => {
  expect(clientScheme(request('203.0.113.9', { 'x-forwarded-proto': 'https' }), proxies)).toBe('http')
})

test('the host comes from a trusted proxy, never from another client', () => {
  expect(forwardedHost(request('10.0.0.1', { 'x-forwarded-host': 'vault.example' }), proxies)).toBe('vault.example')
  expect(forwardedHost(request('203.0.113.9', { 'x-forwarded-host': 'vault.example' }), proxies)).toBeUndefined()
  expect(forwardedHost(request('10.0.0.1'), proxies)).toBeUndefined()
})

test('the scheme behind a trusted proxy comes from the proxy', () => {
  expect(clientScheme(request('10.0.0.1', { 'x-forwarded-proto': 'https' }), proxies)).toBe('https')
  expect(clientScheme(request('10.0.0.1', { 'x-forwarded-proto': 'https, http' }), proxies)).toBe('http')
})
