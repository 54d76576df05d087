import { createSecretKey, randomBytes } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { CHAIN_START, type ChainedRow, chainCode, type StoredSeal } from './chain.ts'
import { createRecentVerification, type VerificationStore } from './verification.ts'

const SEALS = 60
const key = createSecretKey(randomBytes(32))

function row(seq: number): ChainedRow {
  return {
    ...{ seq, id: `id-${String(seq)}`, projectUid: null, projectId: 'shop', action: 'fetch', env: 'production' },
    ...{ requestedAt: '2026-11-22T12:00:00.000001', address: '10.0.0.1/32', detail: null, actor: null },
  }
}

/** A log of sixty seals of two rows each. */
function sealedLog(): { rows: Map<number, ChainedRow>; seals: StoredSeal[] } {
  const rows = new Map(Array.from({ length: 2 * SEALS }, (_, i) => [i + 1, row(i + 1)]))
  let code = CHAIN_START
  const seals = Array.from({ length: SEALS }, (_, i): StoredSeal => {
    const seqs = [2 * i + 1, 2 * i + 2]
    const codes = seqs.map((seq) => (code = chainCode(key, code, row(seq))))
    return { sealNo: i + 1, keyNo: 1, seqs, codes, position: 2 * i + 2, gaps: [], mac: null }
  })
  return { rows, seals }
}

function verifierOf({ rows, seals }: ReturnType<typeof sealedLog>, bounds: { rows: number; seals: number }) {
  const read: number[] = []
  const store: Pick<VerificationStore, 'seals' | 'rows' | 'prunings' | 'chainEnd' | 'rowsBetween'> = {
    seals: (after, limit) => Promise.resolve(seals.filter(({ sealNo }) => sealNo > after).slice(0, limit)),
    rows: (seqs) => {
      read.push(...seqs)
      return Promise.resolve(seqs.flatMap((seq) => rows.get(seq) ?? []))
    },
    prunings: () => Promise.resolve([]),
    chainEnd: () => Promise.resolve({ sealNo: SEALS, code: CHAIN_START, position: 2 * SEALS, gaps: [] }),
    rowsBetween: (first, last, limit) =>
      Promise.resolve([...rows.values()].filter(({ seq }) => seq > first && seq <= last).slice(0, limit)),
  }
  return { read, ...createRecentVerification({ store, chainKeys: { first: () => Promise.resolve(key) }, bounds }) }
}

const ALL = { rows: 1_000, seals: 1_000 }

test('checks a small log from its beginning', async () => {
  expect(await verifierOf(sealedLog(), ALL).verify()).toEqual({
    ...{ intact: true, rows: 120, sealNo: 60, since: new Date('2026-11-22T12:00:00.000Z') },
  })
})

test.each([
  ['rows', { rows: 5, seals: 1_000 }, 6],
  ['seals', { rows: 1_000, seals: 4 }, 8],
  ['seals of more than one batch', { rows: 1_000, seals: 55 }, 110],
])('reads only the newest %s of a long log', async (_name, bounds, count) => {
  const { verify, read } = verifierOf(sealedLog(), bounds)
  expect(await verify()).toMatchObject({ intact: true, rows: count, sealNo: 60 })
  expect(read).toEqual(Array.from({ length: count }, (_, i) => 120 - count + 1 + i))
})

test('simultaneous calls share one check', async () => {
  const { verify, read } = verifierOf(sealedLog(), { rows: 5, seals: 1_000 })
  await Promise.all([verify(), verify(), verify()])
  expect(read).toHaveLength(6)
})

test('reports an unsealed row and a missing first seal', async () => {
  const added = sealedLog()
  added.rows.set(119.5, { ...row(119.5), id: 'added' })
  expect(await verifierOf(added, { rows: 5, seals: 1_000 }).verify()).toMatchObject({ intact: false, id: 'added' })
  const cut = sealedLog()
  cut.seals.shift()
  expect(await verifierOf(cut, ALL).verify()).toEqual({ intact: false, problem: 'seal 1 is missing' })
})
