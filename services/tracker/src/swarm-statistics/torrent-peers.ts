import { addressToText } from '@vault-and-tracker/bencode-tracker'
import { clientName } from '../clients/client-id.ts'
import { apiError } from '../errors.ts'
import type { Endpoint, ListedPeer, PeerList } from '../swarm/peer-list.ts'
import type { SwarmCounts, SwarmName } from '../swarm/swarm.ts'

/** The torrent whose peers are listed. */
export type WatchedTorrent = {
  readonly id: string
  readonly name: string
  readonly size: number
  readonly swarm: SwarmName
  readonly completed: number
}

/** The user of a peer, with the last accounting of that user and torrent. */
export type PeerUser = {
  readonly id: string
  readonly username: string
  /** Bytes; of the client that announced last, if the user has several. */
  readonly left: number | null
}

/** Torrents and users. All methods throw an error that `isUnavailable` recognises if Postgres is unavailable. */
export type TorrentPeersStore = {
  torrent(id: string): Promise<WatchedTorrent | undefined>
  /** The users of a torrent by peer owner, in hex. Users who started a few seconds ago are missing. */
  users(torrentId: string, owners: readonly Buffer[]): Promise<ReadonlyMap<string, PeerUser>>
}

/** A peer as visible to staff. */
export type TorrentPeer = {
  readonly user: { readonly id: string; readonly username: string } | null
  readonly client: string
  readonly state: ListedPeer['state']
  /** `address:port`; null for viewers who may not see addresses. */
  readonly addresses: readonly string[] | null
  readonly uploaded: number
  readonly downloaded: number
  readonly left: number | null
  readonly lastAnnounce: Date
}

export type TorrentPeers = ReturnType<typeof createTorrentPeers>

/** The peers of one torrent, for staff. */
export function createTorrentPeers(deps: {
  store: TorrentPeersStore
  peers: PeerList
  count: (swarms: readonly { name: SwarmName; completed: number }[]) => Promise<readonly SwarmCounts[]>
}) {
  const { store, peers } = deps
  return {
    /**
     * A page of the peers, seeders first.
     *
     * @throws ApiError NOT_FOUND; an error that `isUnavailable` recognises if Postgres or Redis is unavailable
     */
    async list(torrentId: string, page: { page: number; limit: number; withAddresses: boolean }) {
      const torrent = await store.torrent(torrentId)
      if (torrent === undefined) throw apiError('NOT_FOUND', 'There is no such torrent.')
      const { swarm, completed } = torrent
      const [counts, found] = await Promise.all([
        deps.count([{ name: swarm, completed }]),
        peers.read(swarm, (page.page - 1) * page.limit, page.limit),
      ])
      const users = await store.users(
        torrentId,
        found.peers.map(({ owner }) => owner),
      )
      const items = found.peers.map((peer) => present(peer, users, page.withAddresses))
      const { complete = 0, incomplete = 0 } = counts[0] ?? {}
      return { torrent, seeders: complete, leechers: incomplete, items, total: found.places }
    },
  }
}

function present(peer: ListedPeer, users: ReadonlyMap<string, PeerUser>, withAddresses: boolean): TorrentPeer {
  const user = users.get(peer.owner.toString('hex'))
  const { state, uploaded, downloaded } = peer
  return {
    user: user === undefined ? null : { id: user.id, username: user.username },
    client: clientName(peer.peerId),
    state,
    addresses: withAddresses ? peer.endpoints.map(endpointText) : null,
    uploaded,
    downloaded,
    left: state === 'seeder' ? 0 : (user?.left ?? null),
    lastAnnounce: new Date(peer.lastAnnounce * 1_000),
  }
}

function endpointText({ address, port }: Endpoint): string {
  const text = addressToText(address)
  return address.length === 4 ? `${text}:${String(port)}` : `[${text}]:${String(port)}`
}
