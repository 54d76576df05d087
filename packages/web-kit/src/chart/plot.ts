import uPlot from 'uplot'
import './chart.css'
import { type ChartData, type Series, secondsOf } from './series.ts'
import { markTexts } from './time-axis.ts'
import { formatValue, marksUpTo } from './unit.ts'

const PLOT_HEIGHT = 176
/** Room above the highest mark, so that a line at that height is not cut off. */
const HEADROOM = 1.02

export type Plot = {
  show(data: ChartData): void
  remove(): void
}

/** The current colours of the theme, resolved for a canvas. */
type Colours = { readonly text: string; readonly line: string; readonly of: (series: Series) => string }

/** Draws a chart that follows the width of its place and the theme. @param onPoint receives the index under the pointer */
export function draw(place: HTMLElement, first: ChartData, onPoint: (index: number | null) => void): Plot {
  let data = first
  let colours = readColours(place)
  let plot = create()

  function create(): uPlot {
    const size = { width: Math.max(place.clientWidth, 1), height: PLOT_HEIGHT }
    return new uPlot({ ...size, ...optionsOf(data, () => colours, onPoint) }, valuesOf(data), place)
  }

  const resize = new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== plot.width)
      plot.setSize({ width: place.clientWidth, height: PLOT_HEIGHT })
  })
  resize.observe(place)
  const recolour = (): void => {
    colours = readColours(place)
    plot.redraw(false)
  }
  const isDark = matchMedia('(prefers-color-scheme: dark)')
  isDark.addEventListener('change', recolour)
  const theme = new MutationObserver(recolour)
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })

  return {
    show(next) {
      const isAlike = shapeOf(next) === shapeOf(data)
      data = next
      if (isAlike) {
        plot.setData(valuesOf(next))
        return
      }
      plot.destroy()
      plot = create()
    },
    remove() {
      resize.disconnect()
      theme.disconnect()
      isDark.removeEventListener('change', recolour)
      plot.destroy()
    },
  }
}

/** The properties that need a new plot when they change. */
function shapeOf({ unit, span, series }: ChartData): string {
  return JSON.stringify([unit, span, series.map(({ shape, tone }) => [shape, tone])])
}

function valuesOf({ times, series }: ChartData): uPlot.AlignedData {
  return [secondsOf(times), ...series.map(({ values }) => [...values])]
}

/** Custom properties are not resolved to colours, so each colour is read from an element that uses it. */
function readColours(place: HTMLElement): Colours {
  const probe = document.createElement('span')
  place.append(probe)
  const resolve = (token: string): string => {
    probe.style.color = `var(--${token})`
    return getComputedStyle(probe).color
  }
  const tones = new Map(
    (['accent', 'good', 'warn', 'bad', 'info', 'muted', 'text'] as const).map((t) => [t, resolve(t)]),
  )
  const colours = { text: resolve('muted'), line: resolve('line') }
  probe.remove()
  return { ...colours, of: ({ tone }) => tones.get(tone) ?? colours.text }
}

function optionsOf(data: ChartData, colours: () => Colours, onPoint: (index: number | null) => void) {
  const { unit, span, series } = data
  const hasBars = series.some(({ shape }) => shape === 'bars')
  const grid = { stroke: () => colours().line, width: 1 }
  const font = `12px ${getComputedStyle(document.documentElement).fontFamily}`
  // Set by `range`, which runs before the axis is drawn.
  let marks: number[] = []
  const options: Omit<uPlot.Options, 'width' | 'height'> = {
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !hasBars } },
    scales: {
      x: { range: (plot, min, max) => [min, hasBars ? max + spanLength(plot, min) : max] },
      y: {
        range: (_plot, _min, max) => {
          marks = marksUpTo(max, unit)
          return [0, (marks.at(-1) ?? 0) * HEADROOM]
        },
      },
    },
    axes: [
      {
        font,
        stroke: () => colours().text,
        grid: { show: false },
        ticks: { ...grid, size: 4 },
        space: 64,
        size: 28,
        values: (_plot, marks, _axis, _space, distance) => markTexts(marks, distance, span),
      },
      {
        font,
        stroke: () => colours().text,
        grid,
        ticks: { show: false },
        size: (_plot, texts) => widthOf(texts),
        splits: () => marks,
        values: (_plot, shown) => shown.map((mark) => formatValue(mark, unit)),
      },
    ],
    series: [{}, ...series.map((each) => seriesOf(each, colours, hasBars))],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  }
  if (span === 'day' || span === 'month')
    options.tzDate = (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC')
  return options
}

function seriesOf(series: Series, colours: () => Colours, hasBars: boolean): uPlot.Series {
  const stroke = (): string => colours().of(series)
  switch (series.shape) {
    case 'bars':
      return { stroke, width: 1, fill: () => withAlpha(stroke(), 40), points: { show: false }, paths: barPaths() }
    case 'dashes':
      // Next to bars, steps are as wide as the bars.
      return { stroke, width: 1.5, dash: [4, 4], points: { show: false }, ...(hasBars && { paths: stepPaths() }) }
    case 'area':
      return { stroke, width: 2, points: { show: false }, fill: () => withAlpha(stroke(), 20) }
    case 'line':
      return { stroke, width: 2, points: { size: 5, fill: stroke } }
  }
}

function barPaths(): uPlot.Series.PathBuilder {
  const build = uPlot.paths.bars?.({ size: [0.8, 48], align: 1 })
  if (build === undefined) throw new Error('this build of uPlot draws no bars')
  return build
}

function stepPaths(): uPlot.Series.PathBuilder {
  const build = uPlot.paths.stepped?.({ align: 1 })
  if (build === undefined) throw new Error('this build of uPlot draws no steps')
  return build
}

/** The width of an axis in pixels. A digit is nearly 8 wide. */
function widthOf(texts: readonly string[] | null): number {
  const longest = Math.max(0, ...(texts ?? []).map(({ length }) => length))
  return longest * 8 + 12
}

/** The time that a bar covers. Bars begin at their time. */
function spanLength({ data: [times] }: uPlot, first: number): number {
  const second = times[1]
  return second === undefined ? 3_600 : second - first
}

function withAlpha(colour: string, percent: number): string {
  return `color-mix(in srgb, ${colour} ${percent}%, transparent)`
}
