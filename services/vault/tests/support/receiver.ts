import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  checkContent,
  checkWindow,
  createVerifyKey,
  parsePublicKey,
  parseSignedRequest,
  verifySignature,
} from '@vault-and-tracker/http-signatures'

/** The body of a webhook. */
export type Event = {
  id: string
  event: string
  project: string
  env?: string
  secrets?: { key: string; version?: number }[]
  key?: { name: string; fingerprint: string }
  actor: string
  at: string
}

/** A receiver of webhooks, which verifies every request. */
export type Receiver = {
  readonly url: string
  /** The requests so far, including those that were answered with an error. */
  readonly events: Event[]
  /** The problems of requests that did not verify. */
  readonly refused: string[]
  /** Sets the response to further requests; `hang` for none. */
  answer: (event: Event) => number | 'hang'
  close(): Promise<void>
}

/** @param vault the vault whose webhooks are expected */
export async function startReceiver(vault: { url: string }): Promise<Receiver> {
  const { publicKey } = (await (await fetch(`${vault.url}/v1/webhooks/key`)).json()) as { publicKey: string }
  const key = createVerifyKey(parsePublicKey(publicKey))
  const events: Event[] = []
  const refused: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      try {
        const { method = '', url: target = '', rawHeaders } = request
        const verified = verifySignature(parseSignedRequest({ method, scheme: 'http', target, rawHeaders }), [key])
        checkContent(checkWindow(verified, Date.now()), body, { required: true })
        if (verified.claims.project !== 'vault') throw new Error('another signer')
      } catch (error) {
        refused.push(String(error))
      }
      const event = JSON.parse(body.toString()) as Event
      events.push(event)
      const status = receiver.answer(event)
      if (status !== 'hang') response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hooks?token=of-the-receiver`,
    events,
    refused,
    answer: () => 204,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}
