// Three readers of release names: how many names of the tests' table each reads right, its speed, its worst case.
// `pnpm --filter tracker bench:release-names`; with a reader's name, what it gets wrong is printed too.
import { type ExpectedRelease, RELEASE_NAMES } from '../tests/data/release-names.ts'
import { READERS } from './release-readers.ts'

const SECONDS = 2
const HOSTILE_NAMES = 5_000

const FIELDS: Readonly<Record<string, readonly (keyof ExpectedRelease)[]>> = {
  title: ['title'],
  year: ['year'],
  season: ['seasonFrom', 'seasonTo'],
  episode: ['episodeFrom', 'episodeTo'],
  'absolute number': ['absoluteFrom', 'absoluteTo'],
  'air date': ['airDate'],
  resolution: ['resolution'],
  source: ['source'],
  codec: ['codec'],
  group: ['group'],
  HDR: ['hdr'],
  audio: ['audio'],
  channels: ['channels'],
  languages: ['languages'],
  'proper, repack': ['isProper', 'isRepack'],
}

const isSeries = (kind: string): boolean => ['series', 'dailies', 'anime'].includes(kind)
const names = Object.keys(READERS)
const comparable = (value: unknown): string =>
  JSON.stringify(Array.isArray(value) ? value.map(String).sort() : (value ?? null))

console.log(`${RELEASE_NAMES.length} names, how many right; - where the library does not tell\n`)
console.log(`| field | ${names.join(' | ')} |\n|---|${'---:|'.repeat(names.length)}`)
for (const [field, keys] of Object.entries(FIELDS)) {
  const right = Object.entries(READERS).map(([reader, read]) => {
    if (keys.every((key) => !(key in read('A.Film.1999.1080p.WEB.x264-GRP', false)))) return '-'
    return RELEASE_NAMES.filter(({ kind, name, expected }) => {
      const found = read(name, isSeries(kind))
      const wrong = keys.filter((key) => comparable(found[key]) !== comparable(expected[key]))
      for (const key of process.argv[2] === reader ? wrong : []) {
        console.log(`${key} of ${name}: ${comparable(found[key])}, not ${comparable(expected[key])}`)
      }
      return wrong.length === 0
    }).length
  })
  console.log(`| ${field} | ${right.join(' | ')} |`)
}

console.log(
  `\n| reader | names per second | µs each | worst of ${HOSTILE_NAMES} hostile names, ms |\n|---|---:|---:|---:|`,
)
for (const [reader, read] of Object.entries(READERS)) {
  for (const { kind, name } of RELEASE_NAMES) read(name, isSeries(kind))
  let count = 0
  const start = performance.now()
  while (performance.now() - start < SECONDS * 1000) {
    for (const { kind, name } of RELEASE_NAMES) read(name, isSeries(kind))
    count += RELEASE_NAMES.length
  }
  const perSecond = (count * 1000) / (performance.now() - start)
  // Minutes for a single name, so it is left out: '01.'.repeat(85).
  const worst = reader.startsWith('@ctrl') ? 'minutes' : worstCase((name) => read(name, true)).toFixed(1)
  console.log(
    `| ${reader} | ${Math.round(perSecond).toLocaleString('en')} | ${(1e6 / perSecond).toFixed(1)} | ${worst} |`,
  )
}

/** The longest time for a name of 255 characters of repeated parts; of two runs the shorter counts. */
function worstCase(read: (name: string) => unknown): number {
  const parts =
    'S01 E02 S01E02 - . ( ) [ ] 2021 1080p 01 1 a v2 ~ + & ep episode season complete 1-2 dts 5.1 www. 第 话 сезон серия 1x02 1234 /'
  const alphabet = [...parts.split(' '), ' ']
  let state = 1
  const next = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state % below
  }
  const time = (name: string): number => {
    const start = performance.now()
    read(name)
    return performance.now() - start
  }
  let worst = 0
  for (let i = 0; i < HOSTILE_NAMES; i++) {
    const unit = Array.from({ length: 1 + next(4) }, () => alphabet[next(alphabet.length)]).join('')
    const name = unit.repeat(255).slice(0, 255)
    worst = Math.max(worst, Math.min(time(name), time(name)))
  }
  return worst
}
