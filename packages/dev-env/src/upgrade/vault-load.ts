import { generateKeyPair } from '@vault-and-tracker/http-signatures'
import { createVaultClient } from '@vault-and-tracker/vault-client'
import { bytesOf, send } from '../world/http.ts'
import { type Load, startRequests } from './requests.ts'

const PROJECTS = 4

/** Projects that write a secret and read it back, each at another address than the one before. */
export async function createVaultLoad(url: string, adminToken: string): Promise<Load> {
  const projects = Array.from({ length: PROJECTS }, (_, index) => ({
    name: `project-${String(index)}`,
    ...generateKeyPair(),
    stored: 0,
  }))
  const headers = { authorization: `Bearer ${adminToken}` }
  for (const { name, publicKeyHex } of projects)
    await bytesOf(await send('POST', `${url}/v1/admin/projects`, { headers, body: { name, publicKey: publicKeyHex } }))
  const clientOf = (at: string, { name, privateJwk }: (typeof projects)[number]) =>
    createVaultClient({ url: at, project: name, privateKey: privateJwk, retries: 0 })
  const check = async (at: string, project: (typeof projects)[number]): Promise<void> => {
    const { COUNTER: counter = '0' } = await clientOf(at, project).getAll()
    if (Number(counter) !== project.stored)
      throw new Error(`${project.name} read ${counter} after it stored ${String(project.stored)}`)
  }
  let last = url
  const requests = startRequests(
    projects.map((project) => async (at) => {
      last = at
      await check(at, project)
      await clientOf(at, project).put('COUNTER', String(project.stored + 1), 'production')
      project.stored += 1
    }),
  )
  return {
    ...requests,
    finish: async () => {
      const sent = await requests.end()
      for (const project of projects) await check(last, project)
      const entries = JSON.parse(
        (await bytesOf(await send('GET', `${last}/v1/admin/audit?limit=1`, { headers }))).toString(),
      ) as unknown[]
      if (entries.length !== 1) throw new Error('the audit log is empty')
      return `vault: ${String(sent)} values read and stored, none refused, lost or outdated`
    },
  }
}
