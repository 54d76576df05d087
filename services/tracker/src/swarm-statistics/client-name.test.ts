import { expect, test } from '@jest/globals'
import { parsePeerId } from '@vault-and-tracker/bencode-tracker'
import { clientName } from './client-name.ts'

test.each([
  ['-qB5010-abcdefghijkl', 'qBittorrent 5.0.1'],
  ['-TR4060-abcdefghijkl', 'Transmission 4.0.6'],
  ['-DE13F0-abcdefghijkl', 'Deluge 1.3.15'],
  ['-lt0D80-abcdefghijkl', 'rTorrent 0.13.8'],
  ['-WW0201-abcdefghijkl', 'WebTorrent 0.2.0.1'],
  ['-ZZ1234-abcdefghijkl', '-ZZ1234-'],
  ['M7-9-2--abcdefghijkl', 'M7-9-2--'],
  ['\u0001\u0002\u0003-------------ab', 'unknown'],
])('the peer id %j is from %s', (text, name) => {
  const peerId = parsePeerId(Buffer.from(text.padEnd(20, 'x').slice(0, 20), 'latin1').toString('hex'))
  expect(peerId === undefined ? undefined : clientName(peerId)).toBe(name)
})
