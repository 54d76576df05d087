import { encode } from 'uqr'

/** A text as a QR code, dark on light in both themes, as cameras expect it. */
export function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 2 })
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code for your app">
      <path fill="#fff" d={`M0 0h${size}v${size}h-${size}z`} />
      <path fill="#000" d={modules.join('')} shapeRendering="crispEdges" />
    </svg>
  )
}
