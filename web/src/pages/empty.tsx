import { Welcome } from '@/editor/templates/welcome'

export default function EmptyPage() {
  return <Welcome />
}
