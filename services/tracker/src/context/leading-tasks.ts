import type { RepeatOptions } from '@vault-and-tracker/service-kit/lifecycle/background'
import type { Cluster, Redis } from 'ioredis'
import { createLeadership } from '../redis/leadership.redis.ts'
import type { Connections } from './connections.ts'

/**
 * Adds a background task that one of several processes runs: the one that leads.
 *
 * @param name for the log
 * @param options `otherwise` is called instead of the task while another process leads, `onFailure` after a failed run
 */
export type AddAsLeader = (
  name: string,
  everyMs: number,
  task: RepeatOptions['task'],
  options?: { readonly fromStart?: boolean; readonly otherwise?: () => void; readonly onFailure?: () => void },
) => void

/** @param work the tasks, which have a leader of their own; those of the announce engine by default */
export function createLeadingTasks(
  options: Pick<Connections, 'background' | 'logger' | 'resources'> & { readonly redis: Redis | Cluster },
  work?: string,
): AddAsLeader {
  const { background, logger, resources, redis } = options
  const leadership = createLeadership(redis, work)
  resources.defer(() => leadership.release())
  return (name, everyMs, task, { fromStart = false, otherwise, onFailure } = {}) =>
    background.add({
      ...{ everyMs, fromStart },
      task: async (stopping) => {
        if (await leadership.acquire()) await task(stopping)
        else otherwise?.()
      },
      onError: (error) => {
        logger.warn({ err: error, task: name }, 'background task failed; will retry')
        onFailure?.()
      },
    })
}
