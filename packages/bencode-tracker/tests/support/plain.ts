import type { BencodeValue } from '../../src/testing.ts'

/** A decoded value as numbers, latin1 strings, arrays and records, for comparison. */
export type Plain = number | string | Plain[] | { [key: string]: Plain }

export function toPlain(value: BencodeValue): Plain {
  switch (value.kind) {
    case 'integer':
      return value.value
    case 'bytes':
      return value.value.toString('latin1')
    case 'list':
      return value.items.map(toPlain)
    case 'dict':
      return Object.fromEntries([...value.entries].map(([key, item]) => [key, toPlain(item)]))
  }
}
