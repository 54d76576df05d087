import type { AccountingCase } from './accounting-case.ts'
import { COMPLETION_CASES } from './completion-cases.ts'
import { RATE_CASES } from './rate-cases.ts'
import { TRANSFER_CASES } from './transfer-cases.ts'

/** All ways in which clients change their counters, with the expected credit. */
export const ACCOUNTING_CASES: readonly AccountingCase[] = [...TRANSFER_CASES, ...COMPLETION_CASES, ...RATE_CASES]
