import { createUnit3dStore } from '../unit3d/unit3d.store.ts'
import { createUnit3d } from '../unit3d/unit3d.ts'
import type { AccountUseCases } from './accounts.ts'
import type { Catalogue } from './catalogue.ts'
import type { Connections } from './connections.ts'

/** Creates what UNIT3D's API does. */
export function createUnit3dUseCases(
  { config, db }: Connections,
  { catalogue, accounts }: { readonly catalogue: Catalogue; readonly accounts: AccountUseCases },
) {
  const { torrents, search, ownTorrents } = catalogue.useCases
  return {
    unit3d: createUnit3d({
      ...{ torrents, search, ownTorrents, activity: accounts.activity },
      store: createUnit3dStore(db),
      catalogue: catalogue.catalogueCache,
      publicUrl: config.PUBLIC_URL,
    }),
  }
}
