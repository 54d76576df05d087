import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ManagedProcess } from '../processes/managed-process.ts'

/** The data directory and port of a private Postgres or Redis, and whether its data survives. */
export type ServerOptions = {
  /** The folder of its data, configuration, password and log. It is created if it is missing. */
  dataDir: string
  /** Any free port when left out. */
  port?: number | undefined
  /** Whether data must survive a power failure; Redis then loses one second at most. Without it tests are much faster. */
  durable: boolean
}

/** A private server on 127.0.0.1 that ends with the process that started it. */
export type PrivateServer = {
  port: number
  /** As the administrator: of Postgres the superuser, to the database `postgres`. */
  url: string
} & ManagedProcess

/** The password of a server, which is generated when it is first needed. */
export function keptPassword(dataDir: string): string {
  const file = join(dataDir, 'password')
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 })
  return readFileSync(file, 'utf8').trim()
}
