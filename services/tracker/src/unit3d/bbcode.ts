/** Tags whose content stays and which have no counterpart in Markdown. */
const PLAIN = [
  'u',
  'size',
  'color',
  'font',
  'center',
  'left',
  'right',
  'justify',
  'align',
  'table',
  'note',
  'alert',
] as const
/** `*` is an item of a list without a closing tag. */
const MARKED = [
  'b',
  'i',
  's',
  'url',
  'img',
  'quote',
  'code',
  'pre',
  'spoiler',
  'hide',
  'list',
  'ul',
  'ol',
  'li',
] as const
const BLOCKS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'tr', 'td', 'th'] as const

/** Other text in brackets, such as `[1080p]`, is no tag. */
const TAG = new RegExp(
  String.raw`\[(/?)(${[...PLAIN, ...MARKED, ...BLOCKS].join('|')}|\*|hr)(?:=([^\[\]\n]{0,2000}))?\]`,
  'gi',
)

/** Deeper tags are dropped, and their content stays. */
const MAX_DEPTH = 20
const WEB_ADDRESS = /^https?:\/\/[^\s<>]+$/i
const INVISIBLE = /[^\P{C}\t\n\r\u00AD\u200C\u200D]/gu

type Frame = { readonly tag: string; readonly argument: string; text: string }

/**
 * Converts BBCode to Markdown: emphasis, links, quotes, code, lists, headings and spoilers. An image becomes a link to it.
 * The content of other known tags stays without them, and tags that are not closed end with the text.
 */
export function markdownOf(bbcode: string): string {
  const text = bbcode.replace(INVISIBLE, '').replace(/\r\n?/g, '\n')
  const frames: [Frame, ...Frame[]] = [{ tag: '', argument: '', text: '' }]
  const top = (): Frame => frames.at(-1) ?? frames[0]
  const close = (): void => {
    const closed = frames.pop()
    if (closed !== undefined) top().text += rendered(closed, frames)
  }
  let at = 0
  for (const match of text.matchAll(TAG)) {
    const [whole, slash, name = '', argument = ''] = match
    const tag = name.toLowerCase()
    const current = top()
    const isVerbatim = isCode(current.tag) && !(slash !== '' && tag === current.tag)
    current.text += text.slice(at, isVerbatim ? match.index + whole.length : match.index)
    at = match.index + whole.length
    if (isVerbatim) continue
    if (tag === '*' || tag === 'hr') current.text += tag === 'hr' ? '\n\n---\n\n' : '\n- '
    else if (slash === '') {
      if (frames.length <= MAX_DEPTH) frames.push({ tag, argument: argument.replace(/^["']|["']$/g, ''), text: '' })
    } else if (frames.some((frame) => frame.tag === tag)) {
      while (top().tag !== tag) close()
      close()
    }
  }
  top().text += text.slice(at)
  while (frames.length > 1) close()
  return frames[0].text.replace(/\n{3,}/g, '\n\n').trim()
}

function isCode(tag: string): boolean {
  return tag === 'code' || tag === 'pre'
}

function rendered({ tag, argument, text }: Frame, outer: readonly Frame[]): string {
  switch (tag) {
    case 'b':
      return emphasized(text, '**')
    case 'i':
      return emphasized(text, '*')
    case 's':
      return emphasized(text, '~~')
    case 'url':
      return linkTo(argument === '' ? text : argument, text)
    case 'img':
      // A link cannot contain another.
      return outer.some((frame) => frame.tag === 'url') ? 'Image' : linkTo(text, 'Image')
    case 'quote':
      return `\n\n${text.trim().replace(/^/gm, '> ')}\n\n`
    case 'code':
    case 'pre':
      return fenced(text)
    case 'spoiler':
    case 'hide':
      return argument === '' ? text : `\n\n**${argument.replaceAll('*', '')}**\n\n${text}`
    case 'li':
      return `\n- ${text.trim()}`
    case 'list':
    case 'ul':
    case 'ol':
      return `\n${text}\n\n`
    case 'tr':
      return `${text}\n`
    case 'td':
    case 'th':
      return `${text} `
    default:
      return /^h[1-6]$/.test(tag) ? heading(Number(tag.slice(1)), text) : text
  }
}

/** Emphasis cannot span paragraphs or begin with a space. */
function emphasized(text: string, mark: string): string {
  const core = text.trim()
  if (core === '' || core.includes('\n\n')) return text
  const [before = '', after = ''] = text.split(core)
  return `${before}${mark}${core}${mark}${after}`
}

function linkTo(address: string, label: string): string {
  const url = address.trim()
  if (!WEB_ADDRESS.test(url)) return label
  const words = label.trim().replace(/\s+/g, ' ')
  return words === '' || words === url ? `<${url}>` : `[${words}](<${url}>)`
}

/** A fence is longer than those inside. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `\n\n${fence}\n${text.replace(/^\n|\n$/g, '')}\n${fence}\n\n`
}

function heading(level: number, text: string): string {
  return `\n\n${'#'.repeat(level)} ${text.trim().replace(/\s+/g, ' ')}\n\n`
}
