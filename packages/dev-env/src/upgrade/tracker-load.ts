import { createHash } from 'node:crypto'
import { eventually } from '../testing/eventually.ts'
import { torrentOf } from '../world/demo-torrent.ts'
import { bytesOf, callerWith, jsonOf, signIn, uploadTorrent } from '../world/http.ts'
import { runServiceCommand, type Service } from '../world/services.ts'
import { type Load, startRequests } from './requests.ts'

const MEMBERS = 4
const PASSWORD = 'correct horse battery'
const STEP_BYTES = 1000
const CREDIT_TIMEOUT_MS = 60_000

/** Members whose clients announce more uploaded bytes each time, and who list torrents in between. */
export async function createTrackerLoad(url: string, service: Service, content: string): Promise<Load> {
  const { DATABASE_URL = '', REDIS_URL = '' } = service.env
  const users = { ...service, env: { DATABASE_URL, REDIS_URL } }
  const create = async (username: string, role: string): Promise<{ passkey: string; cookie: string }> => {
    const args = ['create', '--username', username, '--email', `${username}@example.org`, '--role', role]
    const { code, output, stdout } = await runServiceCommand(
      users,
      'commands/users.command',
      [...args, '--password-stdin'],
      PASSWORD,
    )
    if (code !== 0) throw new Error(output)
    const cookie = await signIn(url, username, PASSWORD)
    if (cookie === undefined) throw new Error(`${username} could not sign in`)
    return { passkey: (JSON.parse(stdout) as { passkey: string }).passkey, cookie }
  }
  const admin = callerWith(url, (await create('admin', 'admin')).cookie)
  await bytesOf(await admin('POST', '/api/admin/categories/seed'))
  const uploaded = await uploadTorrent(admin, torrentOf(content, `${url}/announce`), {
    name: 'Content',
    category: 'software',
  })
  const { infoHash } = (await jsonOf(uploaded)) as { infoHash: string }
  const hash = [...Buffer.from(infoHash, 'hex')].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const members = await Promise.all(
    Array.from({ length: MEMBERS }, async (_, index) => {
      const name = `member${String(index)}`
      const peerId = `-TR3000-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
      return { ...(await create(name, 'member')), peerId, port: 50_000 + index, uploaded: 0, isStarted: false }
    }),
  )
  let last = url
  const requests = startRequests(
    members.map((member) => async (at) => {
      last = at
      const uploadedBytes = member.isStarted ? member.uploaded + STEP_BYTES : 0
      const query =
        `info_hash=${hash}&peer_id=${member.peerId}&port=${String(member.port)}&uploaded=${String(uploadedBytes)}` +
        `&downloaded=0&left=${String(member.port % 2)}&compact=1${member.isStarted ? '' : '&event=started'}`
      const answer = await bytesOf(await fetch(`${at}/announce?passkey=${member.passkey}&${query}`))
      if (answer.includes('failure reason')) throw new Error(answer.toString('latin1'))
      member.uploaded = uploadedBytes
      member.isStarted = true
      const { total } = (await jsonOf(await callerWith(at, member.cookie)('GET', '/api/torrents?search=content'))) as {
        total: number
      }
      if (total !== 1) throw new Error(`the search found ${String(total)} torrents`)
    }),
  )
  return {
    ...requests,
    finish: async () => {
      const sent = await requests.end()
      for (const member of members) {
        const call = callerWith(last, member.cookie)
        const { id } = (await jsonOf(await call('GET', '/api/user/me'))) as { id: string }
        await eventually(
          async () => {
            const stats = (await jsonOf(await call('GET', `/api/user/${id}/stats`))) as { uploaded: number }
            return stats.uploaded === member.uploaded
          },
          CREDIT_TIMEOUT_MS,
          500,
        )
      }
      return `tracker: ${String(sent)} announces and searches, none refused, every byte credited once`
    },
  }
}
