import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'

const KEYS = [
  [['/'], 'Search'],
  [['g', 't'], 'Go to torrents'],
  [['g', 's'], 'Go to saved searches'],
  [['g', 'u'], 'Go to upload'],
  [['g', 'n'], 'Go to notices'],
  [['g', 'm'], 'Go to your account'],
  [['?'], 'Show keyboard shortcuts'],
  [['Esc'], 'Close a dialog'],
] as const

export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div className="form-actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  )
}
