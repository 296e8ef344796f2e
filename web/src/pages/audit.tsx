import { want } from '@/messages'

export { default } from '@/operate/audit'

want('pages')
