import type { ListedTorrent } from '../api/client.ts'

type Marks = Pick<ListedTorrent, 'anonymous' | 'scene' | 'internal'>

/** What an uploader says about a release. A field that is not checked is not in the form. */
export function MarkFields({ marks, isStaff }: { marks?: Marks; isStaff: boolean }) {
  return (
    <fieldset className="marks">
      <legend className="visually-hidden">Options</legend>
      <label className="switch">
        <input type="checkbox" name="anonymous" value="true" defaultChecked={marks?.anonymous} />
        Upload anonymously
      </label>
      <label className="switch">
        <input type="checkbox" name="scene" value="true" defaultChecked={marks?.scene} />
        Scene release
      </label>
      {isStaff && (
        <label className="switch">
          <input type="checkbox" name="internal" value="true" defaultChecked={marks?.internal} />
          Internal release
        </label>
      )}
    </fieldset>
  )
}
