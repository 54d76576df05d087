import { request } from 'node:http'
import { type BencodeDict, decodeBencode } from '@vault-and-tracker/bencode-tracker/testing'

/** The answer to an announce or a scrape. */
export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  /** Integers and texts by key; bytes as latin1. */
  readonly fields: Readonly<Record<string, number | string | undefined>>
  /** The peers of the compact form as `address:port`. */
  readonly peers: readonly string[]
}

/** The parameters of an announce. All have defaults. */
export type AnnounceParameters = {
  readonly infoHash: string
  readonly peerId?: string
  readonly [parameter: string]: string | number | undefined
}

/** An announce as clients write it: 20 bytes percent-encoded, numbers plain. */
export function announceQuery({ infoHash, peerId = '-AA0001-abcdefghijkl', ...rest }: AnnounceParameters): string {
  const plain: Record<string, string | number | undefined> = {
    port: 6881,
    uploaded: 0,
    downloaded: 0,
    left: 1000,
    ...rest,
  }
  const parts = [
    `info_hash=${percentBytes(Buffer.from(infoHash, 'hex'))}`,
    `peer_id=${percentBytes(Buffer.from(peerId, 'latin1'))}`,
  ]
  for (const [name, value] of Object.entries(plain)) if (value !== undefined) parts.push(`${name}=${String(value)}`)
  return parts.join('&')
}

/** Every byte escaped, which is always right. */
export function percentBytes(bytes: Buffer): string {
  return [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
}

/** Requests a target byte for byte. A URL parser would change it. */
export function rawGet(base: string, target: string, headers: Record<string, string> = {}): Promise<Reply> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const message = request({ hostname, port, path: target, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const bytes = Buffer.concat(chunks)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes, ...readReply(bytes) })
      })
    })
    message.on('error', reject)
    message.end()
  })
}

/** Announces with a passkey, or in open mode without one. */
export function announce(base: string, passkey: string | undefined, parameters: AnnounceParameters): Promise<Reply> {
  const key = passkey === undefined ? '' : `passkey=${passkey}&`
  return rawGet(base, `/announce?${key}${announceQuery(parameters)}`)
}

function readReply(bytes: Buffer): Pick<Reply, 'fields' | 'peers'> {
  if (bytes[0] !== 0x64) return { fields: {}, peers: [] }
  const root = decodeBencode(bytes)
  if (root.kind !== 'dict') throw new Error('the reply is no dictionary')
  return { fields: fieldsOf(root), peers: [...endpointsOf(root, 'peers', 4), ...endpointsOf(root, 'peers6', 16)] }
}

function fieldsOf(root: BencodeDict): Record<string, number | string | undefined> {
  const fields: Record<string, number | string | undefined> = {}
  for (const [key, value] of root.entries) {
    if (value.kind === 'integer') fields[key] = value.value
    if (value.kind === 'bytes') fields[key] = value.value.toString('latin1')
  }
  return fields
}

function endpointsOf(root: BencodeDict, key: string, length: number): string[] {
  const value = root.entries.get(key)
  if (value?.kind !== 'bytes') return []
  const bytes = value.value
  return Array.from({ length: bytes.length / (length + 2) }, (_, i) => {
    const at = i * (length + 2)
    const address = bytes.subarray(at, at + length)
    return `${length === 4 ? address.join('.') : address.toString('hex')}:${String(bytes.readUInt16BE(at + length))}`
  })
}
