import type { Agent } from 'node:https'
import { type Nginx, sendThrough } from '@vault-and-tracker/dev-env'
import { type Key, signHeaders } from './client.ts'
import { ADMIN_TOKEN } from './vault.ts'

const HOST = 'vault.example.org'

/**
 * Sends requests through nginx: by their number a signed fetch, a signed write, and a write of an administrator. A write
 * that nginx has sent once it may not send again.
 *
 * @returns the status, or what happened to the request
 */
export function createProxiedSender(nginx: Nginx, agent: Agent, key: Key): (number: number) => Promise<string> {
  const signed = async (method: 'GET' | 'PUT', body = ''): Promise<string> => {
    const path = '/v1/secrets'
    const headers = await signHeaders({ project: 'shop', key, method, url: `https://${HOST}${path}` })
    return sendThrough(nginx, agent, { host: HOST, method, path, headers, body })
  }
  return (number) => {
    if (number % 3 === 0) return signed('GET')
    if (number % 3 === 1) return signed('PUT', `{"key":"BEHIND_NGINX","value":"${String(number)}","env":"production"}`)
    return sendThrough(nginx, agent, {
      ...{ host: HOST, method: 'PATCH', path: '/v1/admin/projects/shop' },
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: '{"requireContentDigest":false}',
    })
  }
}
