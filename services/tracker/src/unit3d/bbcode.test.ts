import { expect, test } from '@jest/globals'
import { markdownOf } from './bbcode.ts'

test.each([
  ['[b]bold[/b], [I]italic[/I] and [s]struck[/s]', '**bold**, *italic* and ~~struck~~'],
  ['[b] spaced [/b]', '**spaced**'],
  ['a[b] spaced [/b]b', 'a **spaced** b'],
  ['[b][/b]', ''],
  ['[url=https://example.org/a]here[/url]', '[here](<https://example.org/a>)'],
  ['[url]https://example.org/a(b)[/url]', '<https://example.org/a(b)>'],
  ['[url=javascript:alert(1)]here[/url]', 'here'],
  ['[img=350]https://example.org/a.png[/img]', '[Image](<https://example.org/a.png>)'],
  ['[url=https://b.org][img]https://a.org/a.png[/img][/url]', '[Image](<https://b.org>)'],
  ['[quote]one\ntwo[/quote]', '> one\n> two'],
  ['[code]\n[b]not bold[/b] ```\n[/code]', '````\n[b]not bold[/b] ```\n````'],
  ['[list]\n[*]one\n[*]two\n[/list]', '- one\n\n- two'],
  ['[ul][li]one[/li][li]two[/li][/ul]', '- one\n- two'],
  ['[h2]Title[/h2]text', '## Title\n\ntext'],
  ['[spoiler=Media *info*]text[/spoiler]', '**Media info**\n\ntext'],
  ['[center][size=4][color=#ff0000]plain[/color][/size][/center]', 'plain'],
  ['A release [1080p] [GROUP]', 'A release [1080p] [GROUP]'],
  ['[b]never closed', '**never closed**'],
  ['[/b]never opened[/quote]', 'never opened'],
  ['[b][i]crossed[/b][/i]', '***crossed***'],
  ['bell\u0007 and \u202Ereversed\r\nline', 'bell and reversed\nline'],
])('converts %j', (bbcode, markdown) => {
  expect(markdownOf(bbcode)).toBe(markdown)
})

test('drops tags below a depth and keeps their text', () => {
  expect(markdownOf(`${'[quote]'.repeat(1_000)}deep${'[/quote]'.repeat(1_000)}`)).toBe(`${'> '.repeat(20)}deep`)
})
