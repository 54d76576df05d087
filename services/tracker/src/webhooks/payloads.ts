import type { TorrentEvent } from '../events/events.ts'

export const WEBHOOK_FORMATS = ['json', 'discord', 'slack', 'ntfy'] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** What a webhook receives: an event, or a test, which has no id. */
export type Message = TorrentEvent | 'test'

/** A body and its headers, before it is signed. */
export type Payload = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

/** Writes a message as its receiver expects it. */
export function payloadOf(message: Message, format: WebhookFormat, siteUrl: string): Payload {
  switch (format) {
    case 'json':
      return json(
        message === 'test'
          ? { event: 'webhook.test' }
          : { id: String(message.id), event: 'torrent.listed', torrent: message.torrent },
      )
    case 'discord':
      // Names of torrents must not mention anyone, or become links and other Markdown.
      return json({ content: lineOf(message, siteUrl, escapeMarkdown), allowed_mentions: { parse: [] } })
    case 'slack':
      return json({ text: lineOf(message, siteUrl, escapeForSlack) })
    case 'ntfy': {
      const url = message === 'test' ? siteUrl : message.torrent.url
      return { body: textOf(message), headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Click': url } }
    }
  }
}

const SLACK_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function escapeForSlack(text: string): string {
  return text.replaceAll(/[&<>]/g, (each) => SLACK_ESCAPES[each] ?? each)
}

function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_~|[\]()<>#]/g, (each) => `\\${each}`)
}

function json(body: unknown): Payload {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
}

function lineOf(message: Message, siteUrl: string, escapeText: (text: string) => string): string {
  return `${escapeText(textOf(message))}\n${message === 'test' ? siteUrl : message.torrent.url}`
}

function textOf(message: Message): string {
  if (message === 'test') return 'This is a test.'
  const { name, category, size, uploader, downloadPercent } = message.torrent
  const rates = downloadPercent === 100 ? '' : `, ${100 - downloadPercent} % freeleech`
  return `New torrent: ${name} (${category}, ${(size / 1024 ** 3).toFixed(2)} GiB${rates}), uploaded by ${uploader ?? 'Anonymous'}`
}
