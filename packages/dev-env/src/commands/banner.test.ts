import { spawnSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import type { Demo } from '../world/demo.ts'
import { commandsToTry, shellWord } from './banner.ts'

const demo: Demo = {
  vault: { url: 'http://127.0.0.1:1', adminToken: 'token', project: 'demo', privateKey: '{}' },
  tracker: {
    url: 'http://127.0.0.1:2',
    users: [{ username: 'alice', password: "it's", passkey: 'ab'.repeat(20), role: 'member' }],
    torrentId: '',
    infoHash: '',
  },
}

test('no printed command holds a passkey, and each is something a shell can read', () => {
  const commands = commandsToTry(demo, { root: '/repository', dataDir: '/a folder/data' })
  expect(commands).toHaveLength(3)
  for (const [, command] of commands) {
    expect(command).not.toMatch(/abab/)
    expect(command).not.toMatch(/\n/)
    expect(spawnSync('sh', ['-n', '-c', command]).status).toBe(0)
  }
})

test.each(['plain/path.json', 'a b', "it's", '$HOME', '{"a":"b"}', 'a"b'])(
  'the word %s is quoted for a shell',
  (word) => {
    const { stdout } = spawnSync('sh', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })
    expect(stdout).toBe(word)
  },
)
