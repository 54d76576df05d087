import type { AccountingCase } from './accounting-case.ts'
import { COMPLETION_CASES } from './completion-cases.ts'
import { RATE_CASES } from './rate-cases.ts'
import { TRANSFER_CASES } from './transfer-cases.ts'

/** Everything that clients do to their counters, and what has to come of it. */
export const ACCOUNTING_CASES: readonly AccountingCase[] = [...TRANSFER_CASES, ...COMPLETION_CASES, ...RATE_CASES]
