const SHOWN = 12

/** A shortened fingerprint, complete on hover and for screen readers. */
export function Fingerprint({ value }: { value: string }) {
  return (
    <code title={value}>
      <span aria-hidden="true">{value.slice(0, SHOWN)}…</span>
      <span className="visually-hidden">{value}</span>
    </code>
  )
}
