import type { Agent } from 'node:https'
import { type Nginx, sendThrough } from '@vault-and-tracker/dev-env'
import { type Key, signHeaders } from './client.ts'
import { ADMIN_TOKEN } from './vault.ts'

const HOST = 'vault.example.org'

/** Sends a prepared request, and returns its status or error. */
export type Ready = () => Promise<string>

/**
 * Prepares requests through nginx: based on their number a signed fetch, a signed write, or a write of an administrator.
 * nginx must not repeat a write.
 */
export function createProxiedRequests(nginx: Nginx, agent: Agent, key: Key): (number: number) => Promise<Ready> {
  const signed = async (method: 'GET' | 'PUT', body = ''): Promise<Ready> => {
    const path = '/v1/secrets'
    const headers = await signHeaders({ project: 'shop', key, method, url: `https://${HOST}${path}` })
    return () => sendThrough(nginx, agent, { host: HOST, method, path, headers, body })
  }
  const administrative: Ready = () =>
    sendThrough(nginx, agent, {
      ...{ host: HOST, method: 'PATCH', path: '/v1/admin/projects/shop' },
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: '{"requireContentDigest":false}',
    })
  return async (number) => {
    if (number % 3 === 0) return signed('GET')
    if (number % 3 === 1) return signed('PUT', `{"key":"BEHIND_NGINX","value":"${String(number)}","env":"production"}`)
    return administrative
  }
}
