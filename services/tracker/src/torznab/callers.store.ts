import { type Passkey, parsePasskey } from '@vault-and-tracker/bencode-tracker'
import type { Db } from '../db/schema.ts'
import type { CallerStore, TorznabCaller } from './callers.ts'

/** Users from Postgres, many in one query. */
export function createCallerStore(db: Db): CallerStore {
  return {
    byPasskeys: async (passkeys) => {
      const rows = await db
        .selectFrom('users')
        .select(['id', 'role', 'state', 'api_blocked', 'can_download', 'passkey'])
        .select(['download_percent', 'upload_percent'])
        .where('passkey', 'in', passkeys)
        .execute()
      const callers = new Map<Passkey, TorznabCaller>()
      for (const row of rows) {
        const passkey = parsePasskey(row.passkey)
        if (passkey === undefined) continue
        const { id, role, state } = row
        callers.set(passkey, {
          id,
          role,
          state,
          apiBlocked: row.api_blocked,
          canDownload: row.can_download,
          passkey,
          downloadPercent: row.download_percent,
          uploadPercent: row.upload_percent,
        })
      }
      return callers
    },
  }
}
