/** Runs a part of the start and reports it. */
export type Step = <T>(label: string, work: () => Promise<T>) => Promise<T>

/** Where the world lives and what it uses instead of servers of its own. */
export interface WorldOptions {
  /** The repository, built. */
  root: string
  dataDir: string
  vaultPort: number
  trackerPort: number
  /** An administrator's URL; databases and roles are created on that server. */
  databaseUrl?: string | undefined
  redisUrl?: string | undefined
  logLevel?: string | undefined
  step?: Step | undefined
}
