import type { Agent } from 'node:https'
import { type Nginx, sendThrough } from '@vault-and-tracker/dev-env'
import { type Key, signHeaders } from './client.ts'
import { ADMIN_TOKEN } from './vault.ts'

const HOST = 'vault.example.org'

/** A request that is ready to be sent. It returns the status, or what happened to the request. */
export type Ready = () => Promise<string>

/**
 * Prepares requests through nginx: by their number a signed fetch, a signed write, and a write of an administrator. A
 * write that nginx has sent once it may not send again.
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
