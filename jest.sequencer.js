// The order of test files. Jest knows how long each took only on a machine that ran them before; elsewhere it begins
// with the largest. A file that waits for minutes and begins last would be waited for by everything else.
import TestSequencer from '@jest/test-sequencer'

const FIRST = ['real-client-scrapes.test.ts', 'real-clients.test.ts']

export default class LongestFirst extends TestSequencer {
  async sort(tests) {
    const sorted = await super.sort(tests)
    const isFirst = ({ path }) => FIRST.some((name) => path.endsWith(`/${name}`))
    return [...sorted.filter(isFirst), ...sorted.filter((test) => !isFirst(test))]
  }
}
