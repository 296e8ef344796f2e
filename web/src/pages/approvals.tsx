import { want } from '@/messages'

export { default } from '@/operate/approvals'

want('pages')
