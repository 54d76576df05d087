import { useQuery } from '@tanstack/react-query'
import { Copyable } from '@vault-and-tracker/web-kit/form'
import { Details, type Fact } from '@vault-and-tracker/web-kit/layout'
import type { Site } from '../api/client.ts'
import { site } from '../api/queries.ts'

/** The addresses that tools other than Torznab clients need. */
export function Automation() {
  const { data } = useQuery(site)
  if (data === undefined) return null
  const url = data.torznabUrl.replace(/\/api\/torznab$/, '')
  return (
    <section className="card" aria-labelledby="automation">
      <h2 id="automation">Addresses for tools</h2>
      <Details
        facts={[
          address('Definition for Jackett and Prowlarr', `${url}/api/torznab/definition.yml`),
          address('UNIT3D API', url),
          address('Event stream', `${url}/api/events`),
          ...(data.irc === null ? [] : ircFacts(data.irc, url)),
        ]}
      />
    </section>
  )
}

function ircFacts({ host, port, tls, channel }: NonNullable<Site['irc']>, url: string): readonly Fact[] {
  return [
    address('IRC server', host),
    address(tls ? 'IRC port (TLS)' : 'IRC port', String(port)),
    address('IRC channel', channel),
    ['IRC sign-in', 'SASL PLAIN, with your username and an API token with the scope read'],
    address('Definition for autobrr', `${url}/autobrr.yaml`),
  ]
}

function address(name: string, text: string): Fact {
  return [name, <Copyable text={text} what={name} />]
}
