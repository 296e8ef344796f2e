/** Small drawings of the templates, in the manner of the real ones. */
import type { ReactNode } from 'react'
import type { Template } from './list'

const W = { stroke: 'var(--wire)', strokeWidth: 1.25, fill: 'none' }
const Box = ({ x, y }: { x: number; y: number }) => <rect x={x} y={y - 8} width="34" height="16" rx="3" fill="var(--raised)" stroke="var(--line-2)" />
const Dot = ({ x, y }: { x: number; y: number }) => <circle cx={x} cy={y} r="4" fill="var(--accent)" />
const Ring = ({ x, y }: { x: number; y: number }) => <circle cx={x} cy={y} r="3.5" {...W} fill="var(--canvas)" />

const SHAPES: Record<Template['id'], ReactNode> = {
  mediathread: (
    <>
      <path {...W} d="M14 50h12q6 0 6-6v-4q0-6 6-6h102q6 0 6 6v6q0 6 6 6h74M26 50q6 0 6 6v6q0 6 6 6h102q6 0 6-6v-4q0-6 6-6" />
      <Box x={46} y={34} /><Box x={46} y={68} /><Box x={106} y={68} /><Box x={176} y={52} />
      <Dot x={14} y={50} /><Dot x={122} y={34} /><Ring x={228} y={52} />
    </>
  ),
  viblio: (
    <>
      <path {...W} d="M14 50h62q6 0 6-6v-4q0-6 6-6h106q6 0 6 6v4q0 6 6 6h22M76 50q6 0 6 6v6q0 6 6 6h106q6 0 6-6v-6q0-6 6-6" />
      <Box x={40} y={50} /><Box x={104} y={34} /><Box x={154} y={34} /><Box x={104} y={68} /><Box x={208} y={50} />
      <Dot x={14} y={50} /><Dot x={146} y={34} /><Dot x={172} y={68} />
    </>
  ),
  auto_tag: (
    <>
      <path {...W} d="M14 50h100M124 40v-4q0-6 6-6h98M124 60v4q0 6 6 6h98" />
      <Box x={44} y={50} /><path d="M124 34l18 16-18 16-18-16z" fill="var(--raised)" stroke="var(--line-2)" /><Box x={176} y={30} /><Box x={176} y={70} />
      <Dot x={14} y={50} /><Dot x={92} y={50} /><Ring x={228} y={30} /><Ring x={228} y={70} />
    </>
  ),
  release: (
    <>
      <path {...W} d="M14 50h96M24 50v-12q0-6 6-6h74q6 0 6 6v12M24 50v12q0 6 6 6h74q6 0 6-6v-12M110 50h118" />
      <Box x={48} y={32} /><Box x={48} y={50} /><Box x={48} y={68} /><Box x={176} y={50} />
      <path d="M126 37h26M130 35v32M148 35v32" stroke="var(--text-2)" strokeWidth="1.6" /><rect x="133" y="43" width="12" height="13" fill="var(--text-2)" />
      <Dot x={14} y={50} /><Dot x={100} y={50} /><Ring x={228} y={50} />
    </>
  ),
}

export const Sketch = ({ id }: { id: Template['id'] }) => (
  <svg width="242" height="100" viewBox="0 0 242 100" aria-hidden="true" focusable="false">
    {SHAPES[id]}
  </svg>
)
