import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { apiError } from '../errors.ts'
import type { Passwords } from './accounts.ts'

/** The library's number for Argon2id. Its enum exists only as a type. */
const ARGON2ID = 2

/** Argon2id as the OWASP Password Storage Cheat Sheet recommends: 19 MiB, two passes, one lane. */
const PARAMETERS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Two concurrent hashes leave half of the thread pool to files and DNS lookups; 64 queued take about a second. */
const CONCURRENT = 2
const WAITING = 64

/** Argon2id passwords with bounded concurrency. Sign-ins beyond the queue are refused. */
export async function createPasswords(): Promise<Passwords> {
  const inTurn = createTurns(CONCURRENT, {
    mostWaiting: WAITING,
    refuse: () => apiError('UNAVAILABLE', 'Too many concurrent sign-ins. Try again in a moment.'),
  })
  const decoy = await hash(randomBytes(16).toString('hex'), PARAMETERS)
  return {
    hash: (password) => inTurn(() => hash(password, PARAMETERS)),
    matches: async (stored, password) => {
      const matched = await inTurn(() => verify(stored ?? decoy, password))
      return matched && stored !== undefined
    },
  }
}
