import { LINE_FIELDS, LINE_PATTERN } from './announce-line.ts'
import { ANNOUNCER } from './irc-messages.ts'

/** The address of the IRC listener. */
export type IrcAddress = {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly channel: string
}

/** The site with its IRC listener. */
export type IrcSite = IrcAddress & {
  readonly name: string
  /** Without a slash at its end. */
  readonly publicUrl: string
}

/** A definition of this site that autobrr takes as a custom definition, in YAML. */
export function autobrrDefinition({ name, publicUrl, host, port, tls, channel }: IrcSite): string {
  const text = JSON.stringify
  return `---
name: ${text(name)}
identifier: ${text(new URL(publicUrl).hostname.replaceAll(/[^a-z0-9]/g, ''))}
description: ${text(`New torrents of ${name}`)}
language: en-us
urls:
  - ${text(`${publicUrl}/`)}
privacy: private
protocol: torrent
supports:
  - irc
settings:
  - name: apikey
    type: secret
    required: true
    label: API token
    help: "Your account, API tokens: a token with the scope download"

irc:
  network: ${text(name)}
  server: ${text(host)}
  port: ${port}
  tls: ${tls}
  channels:
    - ${text(channel)}
  announcers:
    - ${text(ANNOUNCER)}
  settings:
    - name: nick
      type: text
      required: true
      label: Nick
      help: Any name
    - name: auth.account
      type: text
      required: true
      label: Account
      help: Your username
    - name: auth.password
      type: secret
      required: true
      label: Password
      help: "Your account, API tokens: a token with the scope read"

  parse:
    type: single
    lines:
      - pattern: ${text(LINE_PATTERN)}
        vars:
${LINE_FIELDS.map((field) => `          - ${field}`).join('\n')}
    match:
      infourl: "/torrents/{{ .torrentId }}"
      torrenturl: "/api/torznab/download?id={{ .torrentHash }}&apikey={{ .apikey }}"
`
}
