// Suites that take longest start first, so that none of them runs alone at the end. Jest itself knows the times of an
// earlier run only, which a new clone does not have.
import Sequencer from '@jest/test-sequencer'

/** The parts of their paths that name them. Those that wait for programs to be installed are not the first. */
const LONGEST = [
  'vault/web/tests/changing',
  'tracker/tests/workers',
  'vault/tests/nonce-memory',
  'tracker/tests/real-clients',
  'vault/tests/clients',
  'vault/web/tests/reading',
  'tracker/web/tests/staff',
  'tracker/web/tests/session',
  'tracker/web/tests/staff-traffic',
  'vault/tests/faults-postgres-redis',
  'vault/tests/transit',
  'tracker/tests/accounting',
  'tracker/tests/faults',
  'vault/tests/key-rotation',
  'vault/tests/exchange',
  'tracker/tests/upload-slots',
  'tracker/tests/announce-front-edges',
]

const rank = ({ path }) => {
  const found = LONGEST.findIndex((name) => path.includes(`/${name}.test.`))
  return found === -1 ? LONGEST.length : found
}

export default class extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b))
  }
}
