import { type Agent, request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { FuzzedRequest } from './fuzz-bodies.ts'

/** What came back. */
type FuzzedAnswer = { readonly status: number; readonly text: string }

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
}

/** Who gets no answer in this time waits for something that never comes. */
const HANG_MS = 30_000

/**
 * Sends a request.
 *
 * @param own headers that stay as they are, such as those of a session
 * @throws Error when there is no answer, or one that is not encoded as it says
 */
export async function sendFuzzed(
  url: string,
  request: FuzzedRequest,
  own: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<FuzzedAnswer> {
  const { status, encoding, bytes } = await exchange(url, request, own, agent)
  const decode = bytes.length === 0 ? undefined : DECODERS[encoding]
  return { status, text: (decode?.(bytes) ?? bytes).toString() }
}

function exchange(
  url: string,
  { method, target, headers, bytes }: FuzzedRequest,
  own: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<{ status: number; encoding: string; bytes: Buffer }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        ...{ agent, hostname, port, method, path: target },
        headers: { ...headers, ...own, 'content-length': bytes?.length ?? 0 },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          clearTimeout(hang)
          const encoding = response.headers['content-encoding'] ?? ''
          resolve({ status: response.statusCode ?? 0, encoding, bytes: Buffer.concat(chunks) })
        })
      },
    )
    const hang = setTimeout(() => outgoing.destroy(new Error('no answer')), HANG_MS)
    outgoing.on('error', (error) => {
      clearTimeout(hang)
      reject(error)
    })
    outgoing.end(bytes)
  })
}

/** Texts of schemas and of errors in our own code, which no client can do anything with. */
const RAW_TEXTS =
  /Invalid input|Invalid option|Invalid string|Unrecognized key|expected [a-z]+, received|Too (?:small|big):|ZodError|TypeError|Cannot read prop|undefined|\[object|invalid input syntax|violates|    at /

/** What is wrong with an answer; undefined where nothing is. */
export function problemOf({ status, text }: FuzzedAnswer): string | undefined {
  if (status >= 500) return `status ${String(status)}`
  if (status < 200) return `status ${String(status)}`
  const [raw] = status >= 400 ? (RAW_TEXTS.exec(text) ?? []) : []
  return raw === undefined ? undefined : `says ${raw}`
}
