import type { Around } from '@vault-and-tracker/rest'
import type { TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import { addressKey, clientAddress } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import type { FailureLimit } from './failure-limit.ts'

/**
 * A limit with its count of all replicas, which must fail while Redis is unavailable: a failure that cannot be counted is
 * answered 503, without telling what was wrong.
 */
export type CountedLimit = {
  readonly limit: FailureLimit
  readonly countShared: (client: string, request: Request, response: Response) => Promise<void>
}

/** The limit of each project behind an address, so that one project with a revoked key does not block the others there. */
export type ProjectLimit = CountedLimit & {
  /** The project that a request names; nothing of it is proven. */
  readonly projectOf: (request: Request) => string | undefined
  /** Failures of unknown projects share one count per address: one count per name would have no bound. */
  readonly isProject: (name: string) => Promise<boolean>
}

/**
 * Runs work under limits on failures: refuses a client that is blocked, and counts work that fails. Every failure counts for
 * its address. With a limit per project, requests that it refuses do not.
 */
export function createFailureGuard(deps: {
  perAddress: CountedLimit
  perProject?: ProjectLimit
  proxies: TrustedProxies
  isFailure: (error: unknown, request: Request) => boolean
}): Around {
  const { perAddress, perProject, proxies, isFailure } = deps

  /** Failures of a project count for its address too, so without one there is nothing to read. */
  const blockable = (address: string, request: Request): string | undefined =>
    perAddress.limit.hasFailed(address) ? perProject?.projectOf(request) : undefined

  async function countFailure(address: string, request: Request, response: Response): Promise<void> {
    const count = ({ limit, countShared }: CountedLimit, client: string): Promise<void> =>
      limit.count(client, () => countShared(client, request, response))
    await count(perAddress, address)
    if (perProject === undefined) return
    const project = perProject.projectOf(request)
    const isKnown = project !== undefined && (await perProject.isProject(project))
    await count(perProject, clientOf(address, isKnown ? project : NO_PROJECT))
  }

  return async (request, response, work) => {
    const address = addressKey(clientAddress(request, proxies))
    try {
      perAddress.limit.assertAllowed(address)
      const project = blockable(address, request)
      if (project !== undefined) perProject?.limit.assertAllowed(clientOf(address, project))
      return await work()
    } catch (error) {
      if (isFailure(error, request)) await countFailure(address, request, response)
      throw error
    } finally {
      const project = blockable(address, request)
      const ofProject = project === undefined ? 0 : (perProject?.limit.retryAfter(clientOf(address, project)) ?? 0)
      const seconds = Math.max(perAddress.limit.retryAfter(address), ofProject)
      if (seconds > 0 && !response.headersSent) response.setHeader('Retry-After', String(seconds))
    }
  }
}

/** Stands for all names that are no project. */
const NO_PROJECT = '-'

/** Addresses and names of projects have no spaces. */
const clientOf = (address: string, project: string): string => `${address} ${project}`
