/**
 * Reads the body of a response as text.
 *
 * @throws Error if it has more than `maxBytes`; the rest is not read
 */
export async function readResponse(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  const body: AsyncIterable<Uint8Array> | null = response.body
  let bytes = 0
  for await (const chunk of body ?? NOTHING) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`the response has more than ${String(maxBytes / 1024)} KiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const NOTHING: readonly Uint8Array[] = []
