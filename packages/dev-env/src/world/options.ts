import type { ServiceName } from './plan.ts'

/** Runs a part of the start and reports it. */
export type Step = <T>(label: string, work: () => Promise<T>) => Promise<T>

/** The code of the services that is run: what was compiled, or the sources as they are. */
export interface Code {
  /** The repository. */
  root: string
  fromSource: boolean
}

/** The data directory, the ports, and servers to use instead of private ones. */
export interface WorldOptions extends Code {
  dataDir: string
  vaultPort: number
  trackerPort: number
  /** An administrator's URL; databases and roles are created on that server. */
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  /** Environment variables of each service, besides those that are decided here. */
  variables: Record<ServiceName, Record<string, string>>
  step: Step
}
