import { eventually, withClient } from '@vault-and-tracker/dev-env'
import type { TestTracker } from './tracker.ts'

/**
 * Locks the row of a user while `work` sends requests, which wait for it in the order of their arrival.
 *
 * @param work receives a function that waits until a number of statements are waiting; returns the pending requests
 * @returns the results, in the order in which `work` returned them
 */
export function withRowLocked<T>(
  tracker: TestTracker,
  username: string,
  work: (waiting: (count: number) => Promise<void>) => Promise<readonly Promise<T>[]>,
): Promise<T[]> {
  return withClient(tracker.database.adminUrl, async (client) => {
    await client.query('begin')
    // Rows that refer to the user, such as their addresses, are written in the background and do not wait for this lock.
    await client.query('select from users where username = $1 for no key update', [username])
    const blocked = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const results = await work((count) => eventually(async () => (await tracker.sql(blocked)).length === count))
    await client.query('commit')
    return Promise.all(results)
  })
}
