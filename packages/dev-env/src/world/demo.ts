import { join } from 'node:path'
import { type WorldState, writePrivate, writePrivateJson } from './state.ts'

/** The content of `demo.json`, with which scripts can use the services. */
export type Demo = {
  vault: { url: string; adminToken: string; project: string; privateKey: string }
  tracker: {
    url: string
    users: { username: string; password: string; passkey: string; role: 'admin' | 'member' }[]
    torrentId: string
    infoHash: string
  }
}

/** Writes the data of the banner to a private file for scripts. */
export function writeDemo(
  dataDir: string,
  urls: { vault: string; tracker: string },
  state: WorldState,
  adminToken: string,
): Demo {
  const { project, privateKey } = state.vault
  const { users, torrent } = state.tracker
  const demo: Demo = {
    vault: { url: urls.vault, adminToken, project, privateKey },
    tracker: {
      url: urls.tracker,
      users: users.map(({ username, password, passkey = '', role }) => ({ username, password, passkey, role })),
      torrentId: torrent?.id ?? '',
      infoHash: torrent?.infoHash ?? '',
    },
  }
  writePrivateJson(join(dataDir, 'demo.json'), demo)
  writePrivate(join(dataDir, 'demo-project.jwk'), `${privateKey}\n`)
  return demo
}
