import { formatCount } from '@vault-and-tracker/web-kit/format'

/** The consequences of resetting a passkey. `active` is the number of active torrents, if known. */
export function PasskeyConsequences({ active, whose }: { active: number | undefined; whose: 'your' | 'their' }) {
  return (
    <>
      <p>These stop working immediately:</p>
      <ul className="bullets">
        <li>
          every torrent in {whose} clients{active !== undefined && ` (${formatCount(active)} active now)`}, until the
          .torrent file is downloaded again
        </li>
        <li>every tool that uses the passkey, until you enter the new one</li>
      </ul>
    </>
  )
}
