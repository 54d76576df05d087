import { useState } from 'react'
import { toast } from '../feedback/toast.ts'
import { Button } from './button.tsx'

type Copied = {
  text: string
  what: string
  onCopied?: (() => void) | undefined
}

/** `what` names the text for screen readers. */
export function CopyButton({ text, what, onCopied }: Copied) {
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        toast('Copied.')
        onCopied?.()
      },
      () => toast('Could not copy. Show the text and copy it manually.', 'bad'),
    )
  }
  return (
    <Button onClick={copy} aria-label={`Copy ${what}`}>
      Copy
    </Button>
  )
}

/** A visible text that can be copied. */
export function Copyable({ text, what }: Copied) {
  return (
    <span className="secret">
      <code>{text}</code> <CopyButton text={text} what={what} />
    </span>
  )
}

/** A text that stays hidden until it is shown, and can be copied while hidden. */
export function Secret({ text, what, onCopied }: Copied) {
  const [isShown, setShown] = useState(false)
  return (
    <span className="secret">
      <code>{isShown ? text : '•'.repeat(24)}</code>
      <span className="secret-actions">
        <Button onClick={() => setShown(!isShown)} aria-label={`${isShown ? 'Hide' : 'Show'} ${what}`}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <CopyButton text={text} what={what} onCopied={onCopied} />
      </span>
    </span>
  )
}
