/** Small drawings of numbers. Each says in words what it shows; a table of the same is the caller's to offer. */

const points = (values: number[], width: number, height: number, top: number) => values.map((value, at) => `${((at * width) / Math.max(1, values.length - 1)).toFixed(1)},${(height - (value / top) * height).toFixed(1)}`)

/** A line without axes. */
export function Spark({ values, width = 84, height = 24, tint = 'accent', label }: { values: number[]; width?: number; height?: number; tint?: 'accent' | 'bad' | 'warn'; label: string }) {
  const top = Math.max(1, ...values)
  const line = points(values, width, height - 2, top)
  return (
    <svg width={width} height={height} className={`chart ${tint}`} role="img" aria-label={label}>
      <polygon className="area" points={`0,${height} ${line.join(' ')} ${width},${height}`} />
      <polyline points={line.join(' ')} />
    </svg>
  )
}

/** A round number at or above `value`, for the top of an axis. */
export function topOf(value: number): number {
  if (value <= 0) return 1
  const size = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 10].find((step) => step * size >= value) ?? 10) * size
}

export interface ChartProps {
  values: (number | null)[]
  upper?: (number | null)[]
  bars?: boolean
  tint?: 'accent' | 'bad'
  begin: string
  end: string
  label: string
  figure: (value: number) => string
}

const WIDTH = 330
const HEIGHT = 84

/** A line (or bars) with two lines of an axis, from `begin` to `end`. */
export function Chart({ values, upper, bars = false, tint = 'accent', begin, end, label, figure }: ChartProps) {
  const known = [...values, ...(upper ?? [])].filter((value): value is number => value !== null)
  const top = topOf(Math.max(0, ...known))
  return (
    <svg viewBox={`0 0 ${WIDTH + 36} 104`} className={`chart ${tint} w-full max-w-[366px]`} role="img" aria-label={label}>
      {[0, 0.5, 1].map((part) => (
        <g key={part}>
          <path className="rule" d={`M0 ${HEIGHT - part * HEIGHT}H${WIDTH}`} />
          {part > 0 ? (
            <text x={WIDTH + 6} y={HEIGHT - part * HEIGHT + 4}>
              {figure(part * top)}
            </text>
          ) : null}
        </g>
      ))}
      {bars ? <Bars values={values} top={top} /> : <Line values={values} top={top} filled />}
      {upper ? <Line values={upper} top={top} /> : null}
      <text x="0" y="99">
        {begin}
      </text>
      <text x={WIDTH} y="99" textAnchor="end">
        {end}
      </text>
    </svg>
  )
}

function Bars({ values, top }: { values: (number | null)[]; top: number }) {
  const each = WIDTH / values.length
  return values.map((value, at) => {
    const height = ((value ?? 0) / top) * HEIGHT
    return value ? <rect key={at} x={at * each + each * 0.15} y={HEIGHT - height} width={each * 0.7} height={height} className="cbar" /> : null
  })
}

function Line({ values, top, filled = false }: { values: (number | null)[]; top: number; filled?: boolean }) {
  const placed = values.flatMap((value, at) => (value === null ? [] : [`${((at * WIDTH) / Math.max(1, values.length - 1)).toFixed(1)},${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`]))
  if (placed.length === 0) return null
  if (placed.length === 1) {
    const [x, y] = placed[0]!.split(',')
    return <circle cx={x} cy={y} r="2" className="cbar" />
  }
  const [first, last] = [placed[0]!.split(',')[0], placed.at(-1)!.split(',')[0]]
  return (
    <>
      {filled ? <polygon className="area" points={`${first},${HEIGHT} ${placed.join(' ')} ${last},${HEIGHT}`} /> : null}
      <polyline className={filled ? '' : 'dotted'} points={placed.join(' ')} />
    </>
  )
}
