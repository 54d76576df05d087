import { type Agent, request as httpRequest } from 'node:http'
import type { FuzzedRequest } from './fuzz-bodies.ts'

/** What came back. */
type FuzzedAnswer = { readonly status: number; readonly text: string }

/** Who gets no answer in this time waits for something that never comes. */
const HANG_MS = 30_000

/**
 * Sends a request.
 *
 * @param own headers that stay as they are, such as those of a session
 * @throws Error when there is no answer
 */
export function sendFuzzed(
  url: string,
  { method, target, headers, bytes }: FuzzedRequest,
  own: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<FuzzedAnswer> {
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
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
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
