import { Dialog } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'

const KEYS = [
  [['/'], 'search'],
  [['g', 't'], 'torrents'],
  [['g', 'u'], 'upload'],
  [['g', 'm'], 'your account'],
  [['?'], 'this list'],
  [['Esc'], 'close'],
] as const

/** The keys that work on every page. */
export function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
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
