import MarkdownIt, { type Token } from 'markdown-it'
import { createElement, type ReactNode } from 'react'
import './markdown.css'

/** The elements that a text can contain. Nothing else is made, and no HTML is ever written. */
const TAGS: ReadonlySet<string> = new Set(
  'p h1 h2 h3 h4 h5 h6 strong em s ul ol li blockquote table thead tbody tr th td'.split(' '),
)
/** Below the headings of the page. */
const HEADINGS: Readonly<Record<string, string>> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6' }

const WEB_ADDRESS = /^https?:\/\//i

// Raw HTML stays text. Nesting is bounded, because each level is an element in the next.
const parser = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 20 })
parser.validateLink = (url) => WEB_ADDRESS.test(url)
// Only with a scheme, because names of files look like hosts.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false })

/** Markdown without HTML and images; an image is a link to it. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="markdown" dir="auto">
      {elementsOf(parser.parse(text, {}))}
    </div>
  )
}

type Frame = { readonly opened: Token | undefined; readonly children: ReactNode[] }

/** Opening and closing tokens become nested elements. */
function elementsOf(tokens: readonly Token[]): readonly ReactNode[] {
  const root: Frame = { opened: undefined, children: [] }
  const open: Frame[] = [root]
  for (const [key, token] of tokens.entries()) {
    const current = open.at(-1) ?? root
    if (token.nesting === 1) open.push({ opened: token, children: [] })
    else if (token.nesting === 0) current.children.push(leafOf(token, key))
    else if (open.length > 1) {
      open.pop()
      const parent = open.at(-1) ?? root
      parent.children.push(elementOf(current, key))
    }
  }
  return root.children
}

function elementOf({ opened, children }: Frame, key: number): ReactNode {
  const tag = opened?.tag ?? ''
  if (tag === 'a') return linkTo(String(opened?.attrGet('href') ?? ''), children, key)
  // The paragraphs of a tight list.
  if (opened?.hidden === true || !TAGS.has(tag)) return children
  const start = tag === 'ol' ? Number(opened?.attrGet('start') ?? 1) : undefined
  return createElement(HEADINGS[tag] ?? tag, { key, start }, ...children)
}

function leafOf(token: Token, key: number): ReactNode {
  switch (token.type) {
    case 'inline':
      return elementsOf(token.children ?? [])
    case 'softbreak':
    case 'hardbreak':
      return <br key={key} />
    case 'hr':
      return <hr key={key} />
    case 'code_inline':
      return <code key={key}>{token.content}</code>
    case 'fence':
    case 'code_block':
      return (
        // A scrollable area must be reachable by keyboard.
        <pre key={key} tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      )
    case 'image':
      return linkTo(String(token.attrGet('src') ?? ''), token.content || 'Image', key)
    default:
      return token.content
  }
}

function linkTo(url: string, children: ReactNode, key: number): ReactNode {
  if (!WEB_ADDRESS.test(url)) return children
  return (
    <a key={key} href={url} rel="nofollow noopener noreferrer" target="_blank">
      {children}
    </a>
  )
}
