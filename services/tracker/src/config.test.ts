import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { EnvError } from '@vault-and-tracker/service-kit/config/env'
import { readConfig } from './config.ts'

const required = {
  DATABASE_URL: 'postgres://tracker_app:secret@localhost/tracker',
  REDIS_URL: 'redis://localhost',
  PUBLIC_URL: 'https://tracker.example.org/',
}

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof EnvError) return error.problems
  }
  return []
}

test('required settings are sufficient', () => {
  expect(readConfig(required)).toMatchObject({
    PORT: 6969,
    PUBLIC_URL: 'https://tracker.example.org',
    TRACKER_MODE: 'private',
    REGISTRATION: 'invite',
    UPLOAD_APPROVAL: 'automatic',
    EDIT_APPROVAL: 'automatic',
    UPLOAD_BYTES_PER_DAY: 536_870_912,
    REST_READ_LIMIT: 100,
    REST_WRITE_LIMIT: 10,
    REST_STAFF_WRITE_LIMIT: 60,
    AUTH_LIMIT: 5,
    ANNOUNCE_LIMIT: 200,
  })
})

test('each secret can be in a private file instead', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracker-config-'))
  const { PUBLIC_URL, DATABASE_URL, REDIS_URL } = required
  const secrets = {
    DATABASE_URL,
    REDIS_URL,
    SWARM_REDIS_URL: 'redis://:secret@a,redis://b',
    SMTP_URL: 'smtp://u:p@mail',
  }
  const files = Object.entries(secrets).map(([name, value]): [string, string] => {
    writeFileSync(join(folder, name), `${value}\n`, { mode: 0o600 })
    return [`${name}_FILE`, join(folder, name)]
  })
  try {
    const env: Record<string, string> = { PUBLIC_URL, ...Object.fromEntries(files) }
    const { SWARM_REDIS_URL, ...others } = secrets
    expect(readConfig(env)).toMatchObject({ ...others, SWARM_REDIS_URL: SWARM_REDIS_URL.split(',') })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('every problem is reported', () => {
  const problems = problemsOf({ ...required, PORT: '70000', REGISTRATION: 'maybe', REDIS_URL: 'http://x' })
  expect(problems.map((problem) => problem.split(':')[0])).toEqual(['PORT', 'REDIS_URL', 'REGISTRATION'])
})

test.each([
  'tracker.example.org',
  'ftp://tracker.example.org',
  'https://user:secret@tracker.example.org',
  'https://tracker.example.org/?a=b',
  'https://announce.example.org',
])('PUBLIC_URL may not be %s', (url) => {
  expect(problemsOf({ ...required, PUBLIC_URL: url })).toEqual([expect.stringMatching(/^PUBLIC_URL: must/)])
})

test('TRUSTED_PROXIES must not contain an invalid range', () => {
  expect(problemsOf({ ...required, TRUSTED_PROXIES: '10.0.0.0/99' })).toEqual([
    expect.stringMatching(/^TRUSTED_PROXIES: 10\.0\.0\.0\/99 is neither/),
  ])
})
