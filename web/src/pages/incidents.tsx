import { want } from '@/messages'

export { default } from '@/operate/incidents'

want('pages')
