import { createAddressStore } from '../addresses/addresses.store.ts'
import { type Addresses, createAddresses } from '../addresses/addresses.ts'
import type { Connections } from './connections.ts'

/** The delay until a new address appears in the panel. */
const WRITE_EVERY_MS = 2_000

/** Creates the addresses of users, which this process writes in the background. */
export function createUserAddresses({ config, db, clock, logger, background }: Connections): Addresses {
  const onError = (error: unknown): void => logger.warn({ err: error }, 'writing the addresses of users failed')
  const addresses = createAddresses({
    store: createAddressStore(db),
    clock,
    keepDays: config.ADDRESS_LOG_DAYS,
    onError,
  })
  background.add({
    everyMs: WRITE_EVERY_MS,
    task: () => addresses.flush(),
    onError,
    // Without Postgres, the counts of the last hour are lost.
    atStop: () => addresses.flush(true).catch(() => undefined),
  })
  return addresses
}
